package wheelproof.producer;

import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import wheelproof.recording.Recorder;

/**
 * The recording of one producer (wheelproof.history/1), which is written when it has been closed.
 *
 * <p>What happens after that, and producers that are never closed, are written when the machine ends.
 */
public final class ProducerRecording {
    private static final Map<Object, ProducerRecording> BY_PRODUCER = new ConcurrentHashMap<>();
    private static final AtomicInteger MADE = new AtomicInteger();
    private static volatile Path folder;

    private final Recorder recorder = new Recorder(Names::ofRefusal);
    private final String history;
    private final Map<String, Object> header;
    private final long blockMs;
    private final AtomicLong named = new AtomicLong();
    /** How many calls are under way. */
    private final AtomicInteger open = new AtomicInteger();
    /** Whether a close has returned that has waited for the sender. */
    private volatile boolean isOver;
    private volatile Thread callsBack;
    private long written = -1;

    private ProducerRecording(ProducerConfig config) {
        Map<String, ?> values = config.values();
        blockMs = number(values, ProducerConfig.MAX_BLOCK_MS_CONFIG);
        history = String.valueOf(values.get(ProducerConfig.CLIENT_ID_CONFIG))
                .replaceAll("[^A-Za-z0-9._-]", "_")
                + "-" + ProcessHandle.current().pid() + "-" + MADE.incrementAndGet();
        header = Recorder.header(
                history, "accumulator", "kafka-clients", version(), claims(values), "kafka");
    }

    static void recordInto(Path chosen) {
        folder = chosen;
        Runtime.getRuntime().addShutdownHook(
                new Thread(ProducerRecording::endAll, "producer-recordings"));
    }

    private static void endAll() {
        BY_PRODUCER.values().forEach(ProducerRecording::write);
        if (BY_PRODUCER.isEmpty()) {
            System.err.println("wheelproof: no producer was recorded; the agent knows KafkaProducer "
                    + "of kafka-clients 3 and 4, on the class path of the program");
        }
    }

    /** Begins the recording of a producer that was made. */
    public static void begin(Object producer, Object config) {
        ProducerConfig values = (ProducerConfig) config;
        if ("0".equals(values.getString(ProducerConfig.ACKS_CONFIG))) {
            System.err.println("wheelproof: a producer with acks=0 is told no offset: not recorded");
            return;
        }
        BY_PRODUCER.put(producer, new ProducerRecording(values));
    }

    /** Writes down that a send begins; null if its producer is not recorded. */
    public static Sending sends(Object producer, ProducerRecord<?, ?> record, Callback callback) {
        ProducerRecording mine = record == null ? null : BY_PRODUCER.get(producer);
        if (mine == null) {
            return null;
        }
        mine.open.incrementAndGet();
        String name = "r" + mine.named.getAndIncrement();
        return new Sending(mine, name, record, mine.blockMs, callback);
    }

    /** Writes down that a flush begins. */
    public static void flushes(Object producer) {
        begins(producer, "flush");
    }

    /** Writes down that a flush has ended. */
    public static void flushed(Object producer, Throwable thrown) {
        ends(producer, "flush", thrown);
    }

    /** Writes down that a close begins. */
    public static void closes(Object producer) {
        begins(producer, "close");
    }

    /** Writes down that a close has ended. */
    public static void closed(Object producer, Throwable thrown) {
        ProducerRecording mine = BY_PRODUCER.get(producer);
        // A callback that closes its producer does not wait for the thread that it runs on.
        if (mine != null && thrown == null && Thread.currentThread() != mine.callsBack) {
            mine.isOver = true;
        }
        ends(producer, "close", thrown);
    }

    Recorder recorder() {
        return recorder;
    }

    /** Notes that this thread runs callbacks: Kafka's sender. */
    void callsBack() {
        callsBack = Thread.currentThread();
    }

    /** Writes down how a call has ended. */
    void ended(String f, Throwable thrown) {
        if (thrown == null) {
            recorder.ends(f, Map.of());
        } else if (thrown instanceof Exception) {
            recorder.isRefused(f, Names.ofRefusal(thrown));
        } else {
            // An Error may come at any point of a call.
            recorder.isLost(f);
        }
    }

    /** Counts a call that is over. */
    void callEnds() {
        if (open.decrementAndGet() == 0 && isOver) {
            write();
        }
    }

    private static void begins(Object producer, String f) {
        ProducerRecording mine = BY_PRODUCER.get(producer);
        if (mine != null) {
            mine.open.incrementAndGet();
            mine.recorder.begins(f, Map.of());
        }
    }

    private static void ends(Object producer, String f, Throwable thrown) {
        ProducerRecording mine = BY_PRODUCER.get(producer);
        if (mine != null) {
            mine.ended(f, thrown);
            mine.callEnds();
        }
    }

    private synchronized void write() {
        if (written == recorder.size()) {
            return;
        }
        Path part = folder.resolve(history + ".part");
        try {
            try (Writer out = Files.newBufferedWriter(part)) {
                written = recorder.writeTo(out, history, header, isOver && open.get() == 0);
            }
            Files.move(part, folder.resolve(history + ".jsonl"), StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException error) {
            // The recorded program goes on; what is not there is not judged.
            System.err.println("wheelproof: the recording " + history + " was not written: " + error);
        }
    }

    /** Returns what this producer claims, as its configuration and Kafka's documentation say. */
    private static Map<String, Object> claims(Map<String, ?> values) {
        long lingerMs = number(values, ProducerConfig.LINGER_MS_CONFIG);
        Map<String, Object> claims = new TreeMap<>(Map.of(
                "total_memory", number(values, ProducerConfig.BUFFER_MEMORY_CONFIG),
                "batch_size", Math.max(1, number(values, ProducerConfig.BATCH_SIZE_CONFIG)),
                "linger_ms", lingerMs));
        // If attempts are counted, the last one may fail by a time-out before this time.
        if (number(values, ProducerConfig.RETRIES_CONFIG) == Integer.MAX_VALUE) {
            // Kafka raises a default that is below the other two.
            claims.put("delivery_timeout_ms", Math.max(
                    number(values, ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG),
                    lingerMs + number(values, ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG)));
        }
        // A retry may overtake otherwise.
        if (Boolean.TRUE.equals(values.get(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG))
                || number(values, ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION) == 1) {
            claims.put("callbacks", "in_order");
        }
        return claims;
    }

    private static String version() {
        Properties told = new Properties();
        try (InputStream in = ProducerConfig.class.getResourceAsStream(
                "/kafka/kafka-version.properties")) {
            if (in != null) {
                told.load(in);
            }
        } catch (IOException error) {
            // It is unknown then.
        }
        return told.getProperty("version", "unknown");
    }

    private static long number(Map<String, ?> values, String name) {
        return ((Number) values.get(name)).longValue();
    }
}
