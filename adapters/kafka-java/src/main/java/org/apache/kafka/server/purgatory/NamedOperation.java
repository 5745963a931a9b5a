package org.apache.kafka.server.purgatory;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** An operation that can end when its predicate holds, and tells its callbacks by its name. */
final class NamedOperation extends DelayedOperation {
    private final String name;
    private final BooleanSupplier holds;
    private final Consumer<String> completed;
    private final Consumer<String> expired;

    NamedOperation(
            String name, long delayMs, BooleanSupplier holds,
            Consumer<String> completed, Consumer<String> expired) {
        super(delayMs);
        this.name = name;
        this.holds = holds;
        this.completed = completed;
        this.expired = expired;
    }

    String name() {
        return name;
    }

    @Override
    public boolean tryComplete() {
        return holds.getAsBoolean() && forceComplete();
    }

    @Override
    public void onComplete() {
        completed.accept(name);
    }

    @Override
    public void onExpiration() {
        expired.accept(name);
    }
}
