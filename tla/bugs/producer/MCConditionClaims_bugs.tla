----------------------- MODULE MCConditionClaims_bugs ------------------------
(* What replaces an action or an operator of ConditionClaims to bring a mistake into it. *)
EXTENDS MCConditionClaims

\* Whoever comes later claims as well.
ClaimAgain(w, reason) == claims' = [claims EXCEPT ![w] = @ \cup {reason}]

\* The notification is spent on the first in the queue, whatever has become of its wait.
NotifyTheFirst(n) ==
    /\ pc[n] = "Notify"
    /\ Claim(hand[n], "notified")
    /\ Go(n, "WakeWaiter")
    /\ UNCHANGED <<lock, queue, woken, requested, registered, result, hand>>

\* The status is cleared whatever has ended the wait.
LeaveAndForget(w) ==
    /\ pc[w] = "Leave"
    /\ registered' = registered \ {w}
    /\ result' = [result EXCEPT ![w] = CHOOSE reason \in claims[w] : TRUE]
    /\ requested' = requested \ {w}
    /\ Go(w, "Unlock")
    /\ UNCHANGED <<lock, queue, claims, woken, hand>>

\* A waiter stays in the queue when its wait is over.
RelockAndStay(w) ==
    /\ pc[w] = "Relock"
    /\ lock = None
    /\ lock' = w
    /\ Go(w, "Leave")
    /\ UNCHANGED <<queue, claims, woken, requested, registered, result, hand>>

RelockAnyway(w) ==
    /\ pc[w] = "Relock"
    /\ lock' = w
    /\ queue' = SelectSeq(queue, LAMBDA one : one # w)
    /\ Go(w, "Leave")
    /\ UNCHANGED <<claims, woken, requested, registered, result, hand>>

\* The waiter is claimed and nobody wakes it.
WakeNobody(n) ==
    /\ pc[n] = "WakeWaiter"
    /\ Go(n, "Unlock")
    /\ UNCHANGED <<lock, queue, claims, woken, requested, registered, result, hand>>
=============================================================================
