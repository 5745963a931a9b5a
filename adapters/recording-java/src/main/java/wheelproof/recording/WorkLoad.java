package wheelproof.recording;

import java.util.List;
import java.util.Map;

/** A component that does the work of `wheelproof load`, which is the same for everybody. */
public interface WorkLoad extends Load {
    /** Returns the calls that it can make. */
    List<String> capabilities() throws Exception;

    /** Returns what the header claims, beside the settings that the work brings. */
    Map<String, ?> claims();

    /** Makes a new component, does the work, and waits until all is quiet. */
    void work(Recorder recorder, Work work) throws Exception;
}
