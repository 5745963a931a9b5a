package wheelproof.netty;

import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import wheelproof.recording.Recording;

/** Records the wheel of a project under load, on the clock of the machine. */
final class WheelRecorder {
    private WheelRecorder() {}

    public static void main(String[] arguments) throws IOException {
        String project = arguments[0];
        Wheel.Maker maker = Wheel.of(project);
        Recording recording = new Recording(
                Release.nameOf(project), Release.versionOf(project), "hashed-wheel",
                Map.of("timer", number -> HashedWheelUnderLoad.load(maker)));
        System.exit(recording.run(Arrays.copyOfRange(arguments, 1, arguments.length)));
    }
}
