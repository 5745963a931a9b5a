package org.apache.kafka.server.purgatory;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.timer.SystemTimer;
import wheelproof.recording.PurgatoryLoad;
import wheelproof.recording.PurgatoryUnderLoad;

/** Kafka's DelayedOperationPurgatory with its reaper, on a SystemTimer. */
public final class KafkaPurgatory implements PurgatoryUnderLoad {
    private static final long TICK_MS = 1;
    private static final int WHEEL_SIZE = 20;

    private record Key(String keyLabel) implements DelayedOperationKey {}

    private static final class Known extends DelayedOperation implements Operation {
        private final Body body;

        Known(long delayMs, Body body) {
            super(delayMs);
            this.body = body;
        }

        @Override
        public boolean tryComplete() {
            return body.tryComplete(this);
        }

        @Override
        public void onComplete() {
            body.onComplete();
        }

        @Override
        public void onExpiration() {
            body.onExpiration();
        }
    }

    private final DelayedOperationPurgatory<Known> purgatory;

    private KafkaPurgatory(int purgeInterval) {
        SystemTimer timer =
                new SystemTimer("record", TICK_MS, WHEEL_SIZE, Time.SYSTEM.hiResClockMs());
        purgatory = new DelayedOperationPurgatory<>(
                "record", timer, 0, purgeInterval, true, true);
    }

    /** Returns the load of one history. */
    public static PurgatoryLoad load() {
        return new PurgatoryLoad(
                KafkaPurgatory::new, Map.of("attempts", "exclusive", "cancels", "timeout"),
                Map.of("cancels", "operation", "timeouts", "end_with_operation"));
    }

    @Override
    public Operation operation(long delayMs, Body body) {
        return new Known(delayMs, body);
    }

    @Override
    public boolean tryCompleteElseWatch(Operation operation, List<String> keys) {
        return purgatory.tryCompleteElseWatch(
                (Known) operation, keys.stream().map(Key::new).toList());
    }

    @Override
    public int checkAndComplete(String key) {
        return purgatory.checkAndComplete(new Key(key));
    }

    @Override
    public List<Operation> cancelForKey(String key) {
        return List.copyOf(purgatory.cancelForKey(new Key(key)));
    }

    @Override
    public int watched() {
        return purgatory.watched();
    }

    @Override
    public int numDelayed() {
        return purgatory.numDelayed();
    }

    @Override
    public void shutdown() throws Exception {
        purgatory.shutdown();
    }
}
