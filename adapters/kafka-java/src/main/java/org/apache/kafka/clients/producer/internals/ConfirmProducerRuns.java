package org.apache.kafka.clients.producer.internals;

import org.apache.kafka.common.utils.internals.AppInfoParser;
import wheelproof.kafka.Confirmation;

/** Repeats the counterexamples about the producer's memory, accumulator and sender. */
final class ConfirmProducerRuns {
    private ConfirmProducerRuns() {}

    public static void main(String[] arguments) {
        new Confirmation()
                .with("barging", ConfirmBufferPool::barging)
                .with("barging-starves", ConfirmBufferPool::bargingStarves)
                .with("narrow-free-list", ConfirmBufferPool::narrowFreeList)
                .with("given-back-twice", ConfirmBufferPool::givenBackTwice)
                .with("negative-size", ConfirmNegativeSize::lendsMoreThanTheTotal)
                .with("queued-first", ConfirmSender::queuedFirst)
                .with("unordered-abort", ConfirmSender::unorderedAbort)
                .with("unordered-forced-close", ConfirmSender::unorderedForcedClose)
                .with("late-behind-a-retry", ConfirmSender::lateInTheQueue)
                .with("late-behind-a-retry-in-flight", ConfirmSender::lateInFlight)
                .with("callback-throws-an-error", ConfirmSender::callbackThrowsAnError)
                .with("split-into-itself", ConfirmSender::splitIntoItself)
                .run(AppInfoParser.getVersion());
    }
}
