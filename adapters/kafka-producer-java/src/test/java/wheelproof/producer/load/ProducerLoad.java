package wheelproof.producer.load;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A program with producers, as any user may write it: it knows nothing of the recorder.
 *
 * <p>It reads one scenario a line, with what is planted, and answers when whoever runs it is to do
 * something with the broker, and when the producer has been closed.
 */
public final class ProducerLoad {
    private static final String TOPIC = "load";
    private static final int PARTITIONS = 3;
    private static final int THREADS = 3;
    private static final int SENDS = 60;
    private static final long POLL_MS = 5;

    private final BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    private final String servers;

    private ProducerLoad(String servers) {
        this.servers = servers;
    }

    /** Runs the scenarios of standard input; the argument is the broker's address. */
    public static void main(String[] arguments) throws Exception {
        Faults.install();
        new ProducerLoad(arguments[0]).run();
    }

    private void run() throws Exception {
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            Faults.plant(words.length > 1 ? words[1] : "");
            switch (words[0]) {
                case "topic" -> createTopic();
                case "healthy" -> healthy();
                case "stopped" -> stopped();
                case "slow" -> slow();
                case "forced" -> forced();
                case "left" -> left();
                default -> throw new IllegalArgumentException("there is no scenario " + words[0]);
            }
            Faults.plant("");
            say("done");
        }
    }

    /** Waits for the broker, too: the client asks again until it is there. */
    private void createTopic() throws Exception {
        Map<String, Object> config = Map.of("bootstrap.servers", servers,
                "default.api.timeout.ms", 240_000, "request.timeout.ms", 60_000);
        try (Admin admin = Admin.create(config)) {
            admin.createTopics(List.of(new NewTopic(TOPIC, PARTITIONS, (short) 1))).all().get();
        } catch (ExecutionException error) {
            if (!(error.getCause() instanceof TopicExistsException)) {
                throw error;
            }
        }
    }

    /** Threads send and flush, and the producer is closed. */
    private void healthy() throws Exception {
        try (KafkaProducer<String, String> producer = producer(Map.of())) {
            sendInThreads(producer, true);
        }
    }

    /** The broker is stopped in the middle: what is sent then expires. */
    private void stopped() throws Exception {
        // With the usual strategy a producer forgets where its partitions are, and refuses to send.
        Map<String, Object> hurried = Map.of("delivery.timeout.ms", 1_500,
                "request.timeout.ms", 1_000, "linger.ms", 0,
                "metadata.recovery.strategy", "none");
        try (KafkaProducer<String, String> producer = producer(hurried)) {
            sendInThreads(producer, true);
            ask("stop");
            sendInThreads(producer, true);
        }
    }

    /** The broker does not answer until all has been sent. */
    private void slow() throws Exception {
        try (KafkaProducer<String, String> producer = producer(Map.of())) {
            sendInThreads(producer, true);
            ask("pause");
            sendInThreads(producer, false);
            ask("resume");
        }
    }

    /** The producer is closed by force while much is incomplete, and others go on sending. */
    private void forced() throws Exception {
        // So little memory that callers soon wait for it.
        KafkaProducer<String, String> producer = producer(Map.of("buffer.memory", 32_768));
        sendInThreads(producer, true);
        ask("pause");
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            threads.add(new Thread(() -> {
                try {
                    for (int n = 0; ; n++) {
                        producer.send(record(number, n), (metadata, error) -> {});
                    }
                } catch (RuntimeException closed) {
                    // As Kafka says: "Cannot perform operation after producer has been closed".
                }
            }, "sender-" + i));
        }
        threads.forEach(Thread::start);
        awaitWaitingSend(producer);
        producer.close(Duration.ZERO);
        for (Thread thread : threads) {
            thread.join();
        }
        try {
            producer.send(record(0, 0));
            throw new AssertionError("a closed producer has accepted a record");
        } catch (IllegalStateException closed) {
            // That is right.
        }
        ask("resume");
    }

    /** The producer is never closed. */
    private void left() throws Exception {
        sendInThreads(producer(Map.of()), true);
    }

    /** Waits until the memory of a producer is used up, as its own metric says. */
    private static void awaitWaitingSend(KafkaProducer<String, String> producer)
            throws InterruptedException {
        var waiting = producer.metrics().values().stream()
                .filter(metric -> metric.metricName().name().equals("waiting-threads"))
                .findFirst().orElseThrow();
        while (((Number) waiting.metricValue()).intValue() == 0) {
            Thread.sleep(POLL_MS);
        }
    }

    private static void sendInThreads(KafkaProducer<String, String> producer, boolean flushes)
            throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            threads.add(new Thread(() -> {
                for (int n = 0; n < SENDS; n++) {
                    producer.send(record(number, n), (metadata, error) -> {});
                    if (flushes && n == SENDS / 2) {
                        producer.flush();
                    }
                }
            }, "caller-" + i));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Two of three records leave the choice of their partition to Kafka. */
    private static ProducerRecord<String, String> record(int thread, int n) {
        Integer partition = n % 3 == 0 ? n / 3 % PARTITIONS : null;
        String key = n % 3 == 1 ? "key" + n : null;
        return new ProducerRecord<>(TOPIC, partition, key, "value " + thread + " " + n);
    }

    private KafkaProducer<String, String> producer(Map<String, Object> more) {
        Map<String, Object> config = new HashMap<>(Map.of(
                "bootstrap.servers", servers, "batch.size", 512, "linger.ms", 2,
                "buffer.memory", 4_000_000, "max.block.ms", 240_000,
                "request.timeout.ms", 240_000, "delivery.timeout.ms", 600_000));
        config.putAll(more);
        return new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
    }

    /** Asks whoever runs this to do something with the broker, and waits until that is done. */
    private void ask(String what) throws Exception {
        say(what);
        if (in.readLine() == null) {
            throw new IllegalStateException("nobody has done: " + what);
        }
    }

    private static void say(String what) {
        System.out.println(what);
        System.out.flush();
    }
}
