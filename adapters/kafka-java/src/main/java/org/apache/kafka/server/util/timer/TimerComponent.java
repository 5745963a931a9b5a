package org.apache.kafka.server.util.timer;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import wheelproof.kafka.Component;
import wheelproof.kafka.Json;

/** Kafka's timing wheel; to submit a task means to note its name. */
public final class TimerComponent implements Component {
    private record Config(long tick_ms, int wheel_size, long start_ms) {}

    private record Add(String task, long delay_ms) {}

    private record Cancel(String task) {}

    private record Advance(long to_ms) {}

    private Map<String, NamedTask> tasks = new HashMap<>();
    private List<String> fired = new ArrayList<>();
    private VirtualTimer timer;

    @Override
    public void reset(JsonNode config) throws JsonProcessingException {
        Config read = Json.as(Config.class, config);
        timer = new VirtualTimer(read.tick_ms, read.wheel_size, read.start_ms, TimerTask::run);
        tasks = new HashMap<>();
        fired = new ArrayList<>();
    }

    @Override
    public Map<String, Object> perform(String operation, JsonNode args)
            throws JsonProcessingException {
        switch (operation) {
            case "add" -> {
                Add add = Json.as(Add.class, args);
                timer.add(task(add.task, add.delay_ms));
            }
            case "cancel" -> cancel(Json.as(Cancel.class, args).task);
            case "advance" -> {
                timer.setTime(Json.as(Advance.class, args).to_ms);
                timer.advanceClock(0);
            }
            case "size" -> {
                return Map.of("size", timer.size(), "fired", takeFired());
            }
            default -> throw Component.unknown(operation);
        }
        return Map.of("fired", takeFired());
    }

    /** A task's delay is fixed: a different delay is a different task object. */
    private NamedTask task(String name, long delayMs) {
        NamedTask task = tasks.get(name);
        if (task == null || task.delayMs != delayMs) {
            cancel(name);
            task = new NamedTask(name, delayMs);
            tasks.put(name, task);
        }
        return task;
    }

    private void cancel(String name) {
        NamedTask task = tasks.get(name);
        if (task != null) {
            task.cancel();
        }
    }

    private List<String> takeFired() {
        List<String> taken = fired;
        fired = new ArrayList<>();
        return taken;
    }

    private final class NamedTask extends TimerTask {
        private final String name;

        NamedTask(String name, long delayMs) {
            super(delayMs);
            this.name = name;
        }

        @Override
        public void run() {
            fired.add(name);
        }
    }
}
