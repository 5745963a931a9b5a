package org.apache.kafka.server.purgatory;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.TimingWheel;
import wheelproof.kafka.Confirmation.Observation;
import wheelproof.kafka.Confirmation.Scenario;
import wheelproof.kafka.Gate;
import wheelproof.kafka.Internals;

/** A purgatory with its reaper and a SystemTimer, on the clock of the machine. */
final class PurgatorySetting {
    static final int PURGE_INTERVAL = 1_000;
    static final long SOON_MS = 20;
    static final long LATER_MS = 60_000;

    /** In this time the reaper passes five times. */
    static final long PASSES_MS = 1_000;

    /** What ought to happen at once happens in this time, on a busy machine, too. */
    static final long ENOUGH_MS = 5_000;

    static final Key KEY = new Key("one");
    static final Key OTHER = new Key("other");

    record Key(String keyLabel) implements DelayedOperationKey {}

    interface InSetting {
        Observation observe(PurgatorySetting in) throws Exception;
    }

    final SystemTimer timer = new SystemTimer("confirm", 1, 20, Time.SYSTEM.hiResClockMs());
    final DelayedOperationPurgatory<ConfirmedOperation> purgatory =
            new DelayedOperationPurgatory<>("confirm", timer, 0, PURGE_INTERVAL, true, true);

    /** Makes a setting for `scenario` alone. */
    static Scenario with(InSetting scenario) {
        return () -> {
            PurgatorySetting setting = new PurgatorySetting();
            try {
                return scenario.observe(setting);
            } finally {
                setting.purgatory.shutdown();
            }
        };
    }

    boolean watch(ConfirmedOperation operation, Key... keys) {
        return purgatory.tryCompleteElseWatch(operation, List.of(keys));
    }

    /** Expires an operation whose callback takes until `gate` is open. */
    void keepExecutorBusy(Gate gate) {
        watch(new ConfirmedOperation(1).callsBack(gate::pass), OTHER);
        gate.awaitArrival();
    }

    /** The estimate that decides about a purge. */
    Object estimate() {
        return Internals.get(
                DelayedOperationPurgatory.class, purgatory, "estimatedTotalOperations");
    }

    /** The buckets of all levels that there are. */
    List<Object> buckets() {
        List<Object> buckets = new ArrayList<>();
        Object wheel = Internals.get(SystemTimer.class, timer, "timingWheel");
        while (wheel != null) {
            buckets.addAll(List.of((Object[]) Internals.get(TimingWheel.class, wheel, "buckets")));
            wheel = Internals.get(TimingWheel.class, wheel, "overflowWheel");
        }
        return buckets;
    }
}
