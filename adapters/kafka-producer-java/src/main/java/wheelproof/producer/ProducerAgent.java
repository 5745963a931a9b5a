package wheelproof.producer;

import static net.bytebuddy.matcher.ElementMatchers.isConstructor;
import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.takesArgument;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * The Java agent that records every KafkaProducer of a program: `-javaagent:JAR=FOLDER`.
 *
 * <p>It adds to the public methods `send`, `flush` and `close` alone, which each version has. An
 * interceptor would see less: no flush, no return of a send, and in Kafka before 4.1 not to which
 * record an acknowledgement belongs.
 */
public final class ProducerAgent {
    private static final String PRODUCER = "org.apache.kafka.clients.producer.KafkaProducer";
    private static final String CONFIG = "org.apache.kafka.clients.producer.ProducerConfig";

    private ProducerAgent() {}

    /** Is called by the machine before the program begins. */
    public static void premain(String folder, Instrumentation instrumentation) throws IOException {
        if (folder == null || folder.isEmpty()) {
            throw new IllegalArgumentException("name a folder for the recordings: -javaagent:JAR=FOLDER");
        }
        ProducerRecording.recordInto(Files.createDirectories(Path.of(folder)));
        new AgentBuilder.Default()
                .type(named(PRODUCER))
                .transform((builder, type, loader, module, domain) -> builder
                        .visit(Advice.to(Made.class).on(
                                isConstructor().and(takesArgument(0, named(CONFIG)))))
                        .visit(Advice.to(Send.class).on(
                                named("send").and(takesArguments(ProducerRecord.class, Callback.class))))
                        .visit(Advice.to(Flush.class).on(named("flush").and(takesArguments(0))))
                        .visit(Advice.to(Close.class).on(
                                named("close").and(takesArguments(Duration.class)))))
                .installOn(instrumentation);
    }

    /** What is added to a constructor. */
    public static final class Made {
        private Made() {}

        @Advice.OnMethodExit
        static void exit(@Advice.This Object producer, @Advice.Argument(0) Object config) {
            ProducerRecording.begin(producer, config);
        }
    }

    /** What is added to `send`; the other one, without a callback, calls this one. */
    public static final class Send {
        private Send() {}

        @Advice.OnMethodEnter
        static Sending enter(
                @Advice.This Object producer,
                @Advice.Argument(0) ProducerRecord<?, ?> record,
                @Advice.Argument(value = 1, readOnly = false) Callback callback) {
            Sending sending = ProducerRecording.sends(producer, record, callback);
            if (sending != null) {
                callback = sending;
            }
            return sending;
        }

        @Advice.OnMethodExit(onThrowable = Throwable.class)
        static void exit(@Advice.Enter Sending sending, @Advice.Thrown Throwable thrown) {
            if (sending != null) {
                sending.returned(thrown);
            }
        }
    }

    /** What is added to `flush`. */
    public static final class Flush {
        private Flush() {}

        @Advice.OnMethodEnter
        static void enter(@Advice.This Object producer) {
            ProducerRecording.flushes(producer);
        }

        @Advice.OnMethodExit(onThrowable = Throwable.class)
        static void exit(@Advice.This Object producer, @Advice.Thrown Throwable thrown) {
            ProducerRecording.flushed(producer, thrown);
        }
    }

    /** What is added to `close`; the other one, without a time, calls this one. */
    public static final class Close {
        private Close() {}

        @Advice.OnMethodEnter
        static void enter(@Advice.This Object producer) {
            ProducerRecording.closes(producer);
        }

        @Advice.OnMethodExit(onThrowable = Throwable.class)
        static void exit(@Advice.This Object producer, @Advice.Thrown Throwable thrown) {
            ProducerRecording.closed(producer, thrown);
        }
    }
}
