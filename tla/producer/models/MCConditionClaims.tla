-------------------------- MODULE MCConditionClaims --------------------------
(* ConditionClaims with two waiters. *)
EXTENDS ConditionClaims

MCVictim == [i \in Interrupters |-> "w1"]

MCComesBefore(w, x) == w = "w1" /\ x = "w2"

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

\* The notification finds that the wait is over, and goes on to the next waiter.
WitnessPassedOver ==
    ~\E n \in Notifiers : pc[n] = "Notify" /\ ~IsUnclaimed(hand[n]) /\ queue # <<>>

\* A wait is out of time and has been claimed: it waits for its waking.
WitnessTooLateToTimeOut == ~\E w \in Waiters : pc[w] = "Claimed" /\ w \notin woken

WitnessInterruptedAfterTheNotification ==
    ~\E w \in Waiters : result[w] = "notified" /\ w \in requested

WitnessInterruptedBetweenEnterAndQueue ==
    ~\E w \in Waiters : pc[w] = "Queue" /\ claims[w] = {"interrupted"}
=============================================================================
