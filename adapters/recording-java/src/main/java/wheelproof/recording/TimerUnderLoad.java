package wheelproof.recording;

import java.util.Map;

/** A timer on the clock of the machine, with whatever threads it needs. */
public interface TimerUnderLoad {
    /** A task of the timer. */
    interface Task {
        void add() throws Exception;

        /** Tells whether there is anything to cancel it by. */
        boolean canBeCancelled();

        /** Cancels it and returns the fields of the answer. */
        Map<String, ?> cancel();
    }

    /** Makes a task that does `body` when it runs. */
    Task task(long delayMs, Runnable body);

    /** Tells whether a task may be added again. */
    boolean takesTasksAgain();

    /** Tells whether `size` counts what waits. */
    boolean tellsItsSize();

    /** Returns the size. */
    int size();

    /** Waits until every task has run or is cancelled, and ends the timer's threads. */
    void finish() throws Exception;
}
