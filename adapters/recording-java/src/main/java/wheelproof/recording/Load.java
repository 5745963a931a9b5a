package wheelproof.recording;

import java.util.Map;

/** Work for one kind of component: who calls what, how often, and how it all comes to rest. */
public interface Load {
    /** Returns what the header of a history says of the configuration. */
    Map<String, ?> config();

    /** Returns what the header says besides if it is to be judged by what the reference promises. */
    default Map<String, ?> referencePromises() {
        return Map.of();
    }

    /** Returns the error of a history for an exception that refuses a call; null for all others. */
    String refusal(Exception error);

    /** Makes a new component and uses it until all is quiet and nothing runs any more. */
    void run(Recorder recorder, Callers callers) throws Exception;
}
