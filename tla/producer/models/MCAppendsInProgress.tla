------------------------ MODULE MCAppendsInProgress -------------------------
(* AppendsInProgress with two appenders. *)
EXTENDS AppendsInProgressProof

\* Only whether the number has changed matters.  If it has come round, the closer
\* waits for one more.
MCOneMore(number) == (number + 1) % 3

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

WitnessSleeps == asleep = {}

\* The batch of an append that began before the close is made after the first round.
WitnessMadeAfterTheRound == ~(batches # {} /\ \E c \in Closers : pc[c] = "AwaitTest")

\* An append ends between the round and the wait: the closer does not sleep.
WitnessNoNeedToSleep ==
    ~\E c \in Closers : pc[c] = "AwaitTest" /\ count > 0 /\ completed # seen[c]
=============================================================================
