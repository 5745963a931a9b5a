// Replays vectors of the timer on a timer in Java: java Replay.java FILE ... (Java 17, nothing else).
// Copy it, put your timer in the place of HeapTimer, and run it in your tests. Exit code 0 or 1.
import java.nio.file.*;
import java.util.*;

public class Replay {
  /** What is replayed on: a virtual clock in ms; add and advance return what runs, in order. */
  interface Timer {
    List<String> add(String task, long delayMs);
    boolean cancel(String task);
    List<String> advance(long toMs);
    int size();
  }

  /** A timer made of a heap: deadlines are rounded down to the tick. */
  static class HeapTimer implements Timer {
    record Entry(long due, long number, String task) {}
    final PriorityQueue<Entry> heap = new PriorityQueue<>(
        Comparator.comparingLong(Entry::due).thenComparingLong(Entry::number));
    final Map<String, Long> waiting = new HashMap<>();
    final long tick;
    long now, adds;
    HeapTimer(long tickMs, long wheelSize, long startMs) { tick = tickMs; now = startMs; }
    public List<String> add(String task, long delayMs) {
      waiting.put(task, ++adds);
      heap.add(new Entry(Math.floorDiv(now + delayMs, tick) * tick, adds, task));
      return List.of();
    }
    public boolean cancel(String task) { return waiting.remove(task) != null; }
    public List<String> advance(long toMs) {
      now = toMs;
      List<String> fired = new ArrayList<>();
      while (!heap.isEmpty() && heap.peek().due() <= now) {
        Entry entry = heap.poll();
        if (waiting.remove(entry.task(), entry.number())) fired.add(entry.task());
      }
      return fired;
    }
    public int size() { return waiting.size(); }
  }

  @SuppressWarnings("unchecked")
  static String replay(Map<String, Object> vector) {
    Map<String, Object> config = (Map<String, Object>) vector.get("config");
    Timer timer = new HeapTimer((long) config.get("tick_ms"), (long) config.get("wheel_size"), (long) config.get("start_ms"));
    List<String> fired = new ArrayList<>();
    for (Map<String, Object> step : (List<Map<String, Object>>) vector.get("steps")) {
      Map<String, Object> args = (Map<String, Object>) step.getOrDefault("args", Map.of());
      String task = (String) args.get("task");
      Object seen = null;
      switch ((String) step.get("op")) {
        case "add" -> fired.addAll(timer.add(task, (long) args.get("delay_ms")));
        case "advance" -> fired.addAll(timer.advance((long) args.get("to_ms")));
        case "cancel" -> seen = timer.cancel(task);
        default -> seen = (long) timer.size();
      }
      Map<String, Object> expect = (Map<String, Object>) step.getOrDefault("expect", Map.of());
      Object expected = expect.getOrDefault("cancelled", expect.get("size"));
      if (expect.containsKey("fired")) {
        if (expect.containsKey("any_order")) Collections.sort(fired);
        expected = expect.get("fired");
        seen = List.copyOf(fired);
        fired.clear();
      }
      if (!expect.isEmpty() && !expected.equals(seen)) return step + ": observed " + seen;
    }
    return null;
  }

  public static void main(String[] files) throws Exception {
    int replayed = 0, failed = 0;
    for (String file : files)
      for (String line : Files.readAllLines(Path.of(file))) {
        @SuppressWarnings("unchecked") var vector = (Map<String, Object>) new Json(line).value();
        if (!((List<?>) vector.get("profiles")).contains("kafka")) continue;
        replayed++;
        String problem = replay(vector);
        if (problem != null) { failed++; System.out.println(vector.get("id") + ": " + problem); }
      }
    System.out.println(replayed + " vectors of profile kafka replayed, " + failed + " failed");
    System.exit(failed > 0 || replayed == 0 ? 1 : 0);
  }

  /** Reads the JSON that vectors consist of: objects, lists, strings without escapes, integers. */
  static class Json {
    final StringTokenizer tokens;
    Json(String line) { tokens = new StringTokenizer(line, "{}[],:\"", true); }
    Object value() { return value(tokens.nextToken()); }
    Object value(String token) {
      switch (token) {
        case "{": { Map<String, Object> map = new LinkedHashMap<>(); for (String t = tokens.nextToken(); !t.equals("}"); t = tokens.nextToken()) if (!t.equals(",")) { Object key = value(t); tokens.nextToken(); map.put((String) key, value()); } return map; }
        case "[": { List<Object> list = new ArrayList<>(); for (String t = tokens.nextToken(); !t.equals("]"); t = tokens.nextToken()) if (!t.equals(",")) list.add(value(t)); return list; }
        case "\"": { StringBuilder text = new StringBuilder(); for (String t = tokens.nextToken(); !t.equals("\""); t = tokens.nextToken()) text.append(t); return text.toString(); }
        case "true": case "false": return token.equals("true");
        default: return Long.parseLong(token);
      }
    }
  }
}
