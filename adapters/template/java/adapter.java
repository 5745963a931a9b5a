// An adapter to start from: put calls of your own into Mine, below, and leave the rest.
//
//     wheelproof conform --driver "java adapter.java" --component COMPONENT
//
// Mine is complete as it is, so your first verdict is a pass. Times are whole milliseconds, and only
// `advance` may let time pass: give your implementation a clock that shows what `advance` has set.
// Leave out of an answer what yours does not tell. What throws is a refusal. If several
// threads may use yours, put "concurrent" into ABLE: then calls of several callers are made at the
// same time, and it has its own lock, as Mine has. Java brings no JSON along, so what is needed of it
// is here.

import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

class Adapter {
    private final PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private final Phaser busy = new Phaser(1);
    private Mine mine;
    /** An allocation that has not ended, and what its caller asks then. */
    private final Map<String, List<Fields>> open = new HashMap<>();

    /** Answers each line of standard input (schema wheelproof.driver/1), until bye or its end. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Adapter adapter = new Adapter();
        Map<String, List<Fields>> callers = new LinkedHashMap<>();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Fields request = (Fields) new Reader(line).value();
            if (request.containsKey("caller")) {
                callers.computeIfAbsent(request.text("caller"), name -> new ArrayList<>())
                        .add(request);
                continue;
            }
            // A request without a caller comes behind a burst, and is made when that is over.
            adapter.together(callers.values());
            callers.clear();
            adapter.answer(request, List.of());
            if (request.text("op").equals("bye")) {
                return;
            }
        }
    }

    /** Makes the calls of several callers at the same time, until none of them can go on. */
    private void together(Collection<List<Fields>> callers) {
        callers.forEach(this::begin);
        busy.arriveAndAwaitAdvance();
        busy.arriveAndAwaitAdvance();
    }

    /** Makes the calls of one caller, one after the other, on a thread that begins with the others. */
    private void begin(List<Fields> asks) {
        busy.register();
        new Thread(() -> {
            busy.arriveAndAwaitAdvance();
            work(asks);
        }).start();
    }

    private void work(List<Fields> asks) {
        int place = 0;
        while (place < asks.size() && answer(asks.get(place), asks.subList(place, asks.size()))) {
            place++;
        }
        busy.arriveAndDeregister();
    }

    /**
     * Makes the call of a request and prints what came of it. asks is what its caller asks, this
     * request first; answer tells whether the next of it can be asked now.
     */
    private boolean answer(Fields request, List<Fields> asks) {
        String operation = request.text("op");
        String buffer = request.fields("args").text("buffer");
        boolean waits = !asks.isEmpty() && operation.equals("allocate");
        if (waits) {
            synchronized (this) {
                open.put(buffer, asks);
            }
        }
        try {
            Fields told = perform(operation, request);
            synchronized (this) {
                if (!List.of("hello", "reset", "bye").contains(operation)) {
                    mine.happened(told);
                    end(told);
                }
                if (!waits) {
                    tell(request, "ok", told);
                }
            }
            return !waits;
        } catch (RuntimeException error) {
            // Within the domain, a refusal counts as a failure.
            synchronized (this) {
                open.remove(buffer);
                tell(request, "error", new Fields().with("kind", error.getClass().getSimpleName())
                        .with("message", String.valueOf(error.getMessage())));
            }
            return true;
        }
    }

    /** Answers the allocations of callers that have ended, which a pool tells; those go on. */
    private void end(Fields told) {
        Fields ended = told.fields("ended");
        for (String name : List.copyOf(ended.keySet())) {
            List<Fields> asks = open.remove(name);
            if (asks != null) {
                Fields end = new Fields().with(name, ended.remove(name));
                tell(asks.get(0), "ok", new Fields().with("ended", end));
                busy.register();
                new Thread(() -> work(asks.subList(1, asks.size()))).start();
            }
        }
    }

    private void tell(Fields request, String outcome, Fields told) {
        answers.println(written(new Fields().with("id", request.number("id")).with(outcome, told)));
    }

    /** Performs a request; hello says what Mine is able to do: what is not there is not asked. */
    private Fields perform(String operation, Fields request) {
        switch (operation) {
            case "hello":
                List<String> capabilities = new ArrayList<>(List.of("virtual_time"));
                capabilities.addAll(Mine.ABLE);
                return new Fields().with("impl", Mine.NAME).with("version", "0.1")
                        .with("components", List.of(Mine.COMPONENT))
                        .with("capabilities", capabilities)
                        .with("profiles", new Fields().with(Mine.COMPONENT, Mine.PROFILE));
            case "reset":
                mine = new Mine(request.fields("config"));
                open.clear();
                return new Fields();
            case "bye":
                return new Fields();
            default:
                return mine.perform(operation, request.fields("args"));
        }
    }

    /** Returns a value as JSON. */
    private static String written(Object value) {
        if (value instanceof String text) {
            String escaped = text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
            return '"' + escaped + '"';
        }
        if (value instanceof Collection<?> items) {
            return items.stream().map(Adapter::written).collect(Collectors.joining(",", "[", "]"));
        }
        if (value instanceof Map<?, ?> fields) {
            return fields.entrySet().stream()
                    .map(field -> written(field.getKey()) + ':' + written(field.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        return String.valueOf(value);
    }

    /** Reads a value from a line of JSON. */
    private static final class Reader {
        private final String line;
        private int place;

        Reader(String line) {
            this.line = line;
        }

        Object value() {
            char first = token();
            if (first == '{') {
                Fields fields = new Fields();
                for (char next = token(); next != '}'; next = token()) {
                    if (next == ',') {
                        token();
                    }
                    String name = restOfText();
                    token();
                    fields.put(name, value());
                }
                return fields;
            }
            if (first == '[') {
                List<Object> items = new ArrayList<>();
                for (char next = token(); next != ']'; next = token()) {
                    place -= next == ',' ? 0 : 1;
                    items.add(value());
                }
                return items;
            }
            if (first == '"') {
                return restOfText();
            }
            int begin = place - 1;
            while (place < line.length() && Character.isLetterOrDigit(line.charAt(place))) {
                place++;
            }
            String word = line.substring(begin, place);
            return switch (word) {
                case "null" -> null;
                case "true", "false" -> word.equals("true");
                default -> Long.valueOf(word);
            };
        }

        private char token() {
            while (Character.isWhitespace(line.charAt(place))) {
                place++;
            }
            return line.charAt(place++);
        }

        private String restOfText() {
            StringBuilder text = new StringBuilder();
            for (char next = line.charAt(place++); next != '"'; next = line.charAt(place++)) {
                if (next == '\\') {
                    next = line.charAt(place++);
                    switch (next) {
                        case 'n' -> next = '\n';
                        case 't' -> next = '\t';
                        case 'r' -> next = '\r';
                        case 'u' -> {
                            next = (char) Integer.parseInt(line, place, place + 4, 16);
                            place += 4;
                        }
                        default -> { }
                    }
                }
                text.append(next);
            }
            return text.toString();
        }
    }
}

/** The fields of a JSON object, in their order. */
@SuppressWarnings("unchecked")
final class Fields extends LinkedHashMap<String, Object> {
    Fields with(String name, Object value) {
        put(name, value);
        return this;
    }

    String text(String name) {
        return (String) get(name);
    }

    Long number(String name) {
        return (Long) get(name);
    }

    Fields fields(String name) {
        return (Fields) getOrDefault(name, new Fields());
    }

    /** Returns a list of texts, of numbers or of Fields; what is absent is empty. */
    <T> List<T> list(String name) {
        return (List<T>) getOrDefault(name, List.of());
    }
}
