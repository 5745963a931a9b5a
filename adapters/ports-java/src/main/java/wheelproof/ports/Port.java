package wheelproof.ports;

import java.util.function.Consumer;

/** A timer of one case. Whatever runs is handed to the consumer that it was made with. */
public interface Port {
    /** Adds a task, due after this delay; an earlier add of it is void. */
    void add(String task, long delayMs);

    /** Cancels a task, and tells whether it waited. */
    boolean cancel(String task);

    /** Sets the clock to this time, and runs what is due. */
    void advance(long toMs);

    /** Ends its threads, if it has any. */
    default void close() {}

    /** How to make one: its ticks and its clock are those of the case. */
    @FunctionalInterface
    interface Maker {
        Port make(long tickMs, int wheelSize, long startMs, Consumer<String> ran);
    }
}
