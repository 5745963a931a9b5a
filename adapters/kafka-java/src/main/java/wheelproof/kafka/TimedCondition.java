package wheelproof.kafka;

import java.util.Date;
import java.util.concurrent.locks.Condition;

/** A condition for which Kafka waits in one way only: with a time-out. */
abstract class TimedCondition implements Condition {
    @Override
    public final void await() {
        throw new UnsupportedOperationException();
    }

    @Override
    public final void awaitUninterruptibly() {
        throw new UnsupportedOperationException();
    }

    @Override
    public final long awaitNanos(long limitNs) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final boolean awaitUntil(Date deadline) {
        throw new UnsupportedOperationException();
    }

    @Override
    public final void signalAll() {
        throw new UnsupportedOperationException();
    }
}
