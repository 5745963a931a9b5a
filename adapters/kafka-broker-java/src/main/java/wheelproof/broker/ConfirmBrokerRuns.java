package wheelproof.broker;

import org.apache.kafka.common.utils.internals.AppInfoParser;
import wheelproof.kafka.Confirmation;

/** Repeats the findings about a broker's partition on the released classes. */
public final class ConfirmBrokerRuns {
    private ConfirmBrokerRuns() {}

    public static void main(String[] arguments) {
        new Confirmation()
                .with("epoch-blind-acknowledgement", new EpochBlindAcknowledgement())
                .run(AppInfoParser.getVersion());
    }
}
