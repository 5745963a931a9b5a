package wheelproof.purgatories;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Supplier;
import wheelproof.recording.PurgatoryLoad;
import wheelproof.recording.Recording;
import wheelproof.recording.Worker;

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
        Supplier<PurgatoryLoad> load = () -> new PurgatoryLoad(
                OldPurgatory::new,
                Map.of("attempts", "overlapping", "triggers", triggers),
                Map.of("attempts", "exclusive", "triggers", "complete"));
        String name = "kafka.server.DelayedOperationPurgatory";
        if (arguments[1].equals("load")) {
            boolean asReference = Arrays.asList(rest).contains("wheelproof");
            new Worker(name, version, "purgatory", "kafka", asReference, load::get).serve();
            System.exit(0);
        }
        Recording recording = new Recording(
                name, version, "kafka", Map.of("purgatory", number -> load.get()));
        System.exit(recording.run(rest));
    }
}
