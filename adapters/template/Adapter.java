// An adapter to start from: put calls of your timer into MyTimer, and leave the rest as it is.
//
//     wheelproof conform --driver "java Adapter.java"
//
// MyTimer as it stands is a complete timer, so that you begin with a verdict that passes. Times are
// whole milliseconds. Nothing but advance may let time pass: give your timer a clock that shows
// nowMs. Java brings no JSON along: what is asked is flat, and two patterns read it.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

class Adapter {
    private static final String NAME = "my-timer";
    private static final String VERSION = "0.1";

    /** Your timer, seen from outside; a case begins with a new one. */
    static final class MyTimer {
        /** Each task appends its name when it runs, in that order. */
        final List<String> ran = new ArrayList<>();
        private final long tickMs;
        private long nowMs;
        private final Map<String, Long> dueMs = new LinkedHashMap<>();

        MyTimer(long tickMs, long wheelSize, long startMs) {
            this.tickMs = tickMs;
            nowMs = startMs;
        }

        /** Lets the task run in delayMs; an earlier add of the same name is void. */
        void add(String task, long delayMs) {
            dueMs.put(task, Math.floorDiv(nowMs + delayMs, tickMs) * tickMs);
        }

        /** Cancels the task; tells whether it was waiting, or null if your timer does not say. */
        Boolean cancel(String task) {
            return dueMs.remove(task) != null;
        }

        /** Sets the clock to toMs; returns when all that is due has run. */
        void advance(long toMs) {
            nowMs = toMs;
            dueMs.entrySet().stream()
                    .filter(one -> one.getValue() <= toMs)
                    .sorted(Map.Entry.comparingByValue())
                    .forEachOrdered(one -> ran.add(one.getKey()));
            dueMs.keySet().removeAll(ran);
        }

        /** Returns how many tasks wait, or null if your timer does not count them. */
        Integer size() {
            return dueMs.size();
        }
    }

    private static final Pattern TEXT = Pattern.compile("\"(op|task)\":\"([^\"]*)\"");
    private static final Pattern NUMBER = Pattern.compile("\"(\\w+)\":(-?\\d+)");

    private MyTimer timer = new MyTimer(1, 20, 0);

    /** Answers each line of standard input (schema wheelproof.driver/1), until bye or its end. */
    public static void main(String[] arguments) throws IOException {
        Adapter adapter = new Adapter();
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Map<String, String> texts = new LinkedHashMap<>();
            for (Matcher found = TEXT.matcher(line); found.find(); ) {
                texts.put(found.group(1), found.group(2));
            }
            Map<String, Long> numbers = new LinkedHashMap<>();
            for (Matcher found = NUMBER.matcher(line); found.find(); ) {
                numbers.put(found.group(1), Long.parseLong(found.group(2)));
            }
            String answer;
            try {
                answer = "\"ok\":{" + adapter.perform(texts.get("op"), texts.get("task"), numbers) + "}";
            } catch (RuntimeException error) {
                // A refusal: within what the profile allows, it counts as a failure.
                String kind = error.getClass().getSimpleName();
                answer = "\"error\":{\"kind\":\"" + kind + "\",\"message\":\"see standard error\"}";
                error.printStackTrace();
            }
            System.out.println("{\"id\":" + numbers.get("id") + "," + answer + "}");
            if (texts.get("op").equals("bye")) {
                return;
            }
        }
    }

    private String perform(String operation, String task, Map<String, Long> numbers) {
        String told = "";
        switch (operation) {
            case "hello":
                return "\"impl\":\"" + NAME + "\",\"version\":\"" + VERSION
                        + "\",\"components\":[\"timer\"],\"capabilities\":[\"virtual_time\"]";
            case "reset":
                timer = new MyTimer(
                        numbers.get("tick_ms"), numbers.get("wheel_size"), numbers.get("start_ms"));
                return "";
            case "bye":
                return "";
            case "add":
                timer.add(task, numbers.get("delay_ms"));
                break;
            case "cancel":
                Boolean cancelled = timer.cancel(task);
                told = cancelled == null ? "" : ",\"cancelled\":" + cancelled;
                break;
            case "advance":
                timer.advance(numbers.get("to_ms"));
                break;
            default:
                Integer size = timer.size();
                told = size == null ? "" : ",\"size\":" + size;
        }
        String ran = timer.ran.stream().map(one -> '"' + one + '"').collect(Collectors.joining(","));
        timer.ran.clear();
        return "\"fired\":[" + ran + "]" + told;
    }
}
