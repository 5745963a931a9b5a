------------------------- MODULE MCMaybeTryComplete -------------------------
(* MaybeTryComplete with two or three triggers: it is finite as it is. *)
EXTENDS MaybeTryCompleteProof

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

\* A trigger finds the lock taken by one that has seen less than there is to see now (KAFKA-6653).
WitnessTriggerMissed ==
    ~\E t, u \in Triggers : owed = {t} /\ pc[t] = "TryLock" /\ pc[u] = "Unlock" /\ Holds

\* The flag brings the one that holds the lock back.
WitnessFlagSeen == ~\E t \in Triggers : pc[t] = "ReadPending" /\ pending /\ Holds /\ ~Done

\* The time is out while a trigger is about to complete the operation.
WitnessExpiryWins == ~\E t \in Triggers : pc[t] = "ForceComplete" /\ Done

WitnessExpiryLoses == ~\E t \in Timers : pc[t] = "ForceComplete" /\ Done

\* The lock was free when the timer's thread looked, and the operation completed when it had it.
WitnessExpiryFindsItCompletedUnderTheLock ==
    ~\E t \in Timers : pc[t] = "ForceComplete" /\ lock = t /\ Done
=============================================================================
