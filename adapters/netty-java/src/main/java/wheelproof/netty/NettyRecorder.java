package wheelproof.netty;

import java.io.IOException;
import java.util.Map;
import wheelproof.recording.Recording;

/** Records Netty's wheel under load, on the clock of the machine. */
final class NettyRecorder {
    private NettyRecorder() {}

    public static void main(String[] arguments) throws IOException {
        Recording recording = new Recording(
                "netty-common", NettyVersion.read(), "hashed-wheel",
                Map.of("timer", number -> HashedWheelUnderLoad.load()));
        System.exit(recording.run(arguments));
    }
}
