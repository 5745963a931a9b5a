package wheelproof.recording;

import java.util.List;

/** A purgatory of some version, with its reaper and its timer, as PurgatoryLoad uses it. */
public interface PurgatoryUnderLoad {
    /** What an operation does, which the caller knows. */
    interface Body {
        /** Tests the predicate, and completes `operation` by force if it holds. */
        boolean tryComplete(Operation operation);

        /** The callback of its completion. */
        void onComplete();

        /** The callback of its expiry. */
        void onExpiration();
    }

    /** An operation of the implementation's own class. */
    interface Operation {
        /** Completes it, unless it is done. */
        boolean forceComplete();
    }

    /** Makes an operation, which is not handed in yet. */
    Operation operation(long delayMs, Body body);

    /** Hands an operation in. */
    boolean tryCompleteElseWatch(Operation operation, List<String> keys);

    /** Triggers a key. */
    int checkAndComplete(String key);

    /** Whether a key can be given up. */
    default boolean cancelsKeys() {
        return true;
    }

    /** Gives up a key, and returns its operations. */
    List<Operation> cancelForKey(String key);

    /** How many watches there are. */
    int watched();

    /** How many operations wait to expire. */
    int numDelayed();

    /** Stops the reaper and the timer. */
    void shutdown() throws Exception;
}
