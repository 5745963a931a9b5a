package wheelproof.producer.load;

import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import net.bytebuddy.agent.ByteBuddyAgent;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;

/** Defects that are planted in Kafka's own producer, where it runs the callbacks of a batch. */
public final class Faults {
    private static final String CALLBACKS =
            "org.apache.kafka.clients.producer.KafkaProducer$AppendCallbacks";
    /** Of each partition, what its last record was told. */
    private static final Map<String, RecordMetadata> LAST = new ConcurrentHashMap<>();
    private static final int EVERY = 10;
    private static volatile String planted = "";
    private static int told;

    private Faults() {}

    static void install() {
        new AgentBuilder.Default()
                .type(named(CALLBACKS))
                .transform((builder, type, loader, module, domain) -> builder.visit(
                        Advice.to(OnCompletion.class).on(
                                named("onCompletion").and(takesArguments(2)))))
                .installOn(ByteBuddyAgent.install());
    }

    static void plant(String fault) {
        planted = fault;
        told = 0;
        LAST.clear();
    }

    /** Tells whether the callback is to be left out. */
    public static boolean isLost() {
        return planted.equals("lost") && ++told % EVERY == 0;
    }

    /** Tells whether the callback is to run twice. */
    public static boolean isTwice() {
        return planted.equals("twice") && ++told % EVERY == 0;
    }

    /** Returns what a record is told: with the fault, now and then what the one before was told. */
    public static RecordMetadata told(RecordMetadata metadata) {
        if (!planted.equals("offset") || metadata == null) {
            return metadata;
        }
        RecordMetadata before = LAST.put(metadata.topic() + metadata.partition(), metadata);
        return before != null && ++told % EVERY == 0 ? before : metadata;
    }

    /** What is added to Kafka's method. */
    public static final class OnCompletion {
        private OnCompletion() {}

        @Advice.OnMethodEnter(skipOn = Advice.OnNonDefaultValue.class)
        static boolean enter(
                @Advice.Argument(value = 0, readOnly = false) RecordMetadata metadata) {
            metadata = Faults.told(metadata);
            return Faults.isLost();
        }

        @Advice.OnMethodExit
        static void exit(
                @Advice.Enter boolean isLost, @Advice.Argument(0) RecordMetadata metadata,
                @Advice.Argument(1) Exception error,
                @Advice.FieldValue("userCallback") Callback callback) {
            if (!isLost && Faults.isTwice()) {
                callback.onCompletion(metadata, error);
            }
        }
    }
}
