package org.apache.kafka.server.purgatory;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/** Does what a scenario wants of it, and counts its ends. */
final class ConfirmedOperation extends DelayedOperation {
    private final AtomicInteger completions = new AtomicInteger();
    private final AtomicInteger expirations = new AtomicInteger();
    private volatile BooleanSupplier predicate = () -> false;
    private volatile Runnable callback = () -> { };

    ConfirmedOperation(long delayMs) {
        super(delayMs);
    }

    ConfirmedOperation completesWhen(BooleanSupplier test) {
        predicate = test;
        return this;
    }

    ConfirmedOperation callsBack(Runnable step) {
        callback = step;
        return this;
    }

    @Override
    public boolean tryComplete() {
        return predicate.getAsBoolean() && forceComplete();
    }

    @Override
    public void onComplete() {
        callback.run();
        completions.incrementAndGet();
    }

    @Override
    public void onExpiration() {
        expirations.incrementAndGet();
    }

    boolean hasCompleted() {
        return completions.get() > 0;
    }

    boolean hasExpired() {
        return expirations.get() > 0;
    }

    /** How many threads wait for the operation's lock. */
    int queued() {
        return lock.getQueueLength();
    }
}
