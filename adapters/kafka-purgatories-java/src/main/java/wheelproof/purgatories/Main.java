package wheelproof.purgatories;

import java.util.Arrays;
import java.util.Map;
import wheelproof.recording.PurgatoryLoad;
import wheelproof.recording.Recording;

/** Records the purgatory of a version of Kafka under load, or repeats the races of its discipline. */
final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
        String version = arguments[0];
        String[] rest = Arrays.copyOfRange(arguments, 2, arguments.length);
        if (arguments[1].equals("races")) {
            Races.run(version);
        }
        // Who tries a lock once and gives up may leave an operation to its time-out (KAFKA-6653).
        String triggers = version.startsWith("1.0") ? "may_be_missed" : "complete";
        Recording recording = new Recording(
                "kafka.server.DelayedOperationPurgatory", version, "kafka",
                Map.of("purgatory", number -> new PurgatoryLoad(
                        OldPurgatory::new,
                        Map.of("attempts", "overlapping", "triggers", triggers),
                        Map.of("attempts", "exclusive", "triggers", "complete"))));
        System.exit(recording.run(rest));
    }
}
