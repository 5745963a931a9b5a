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

\* Any wait may run out of time.
TimeOutAnybody(w) ==
    /\ pc[w] = "Asleep"
    /\ Claim(w, "timed_out")
    /\ Go(w, IF IsUnclaimed(w) THEN "Relock" ELSE "Claimed")
    /\ UNCHANGED <<lock, queue, woken, requested, registered, result, hand>>

\* A wait that runs out of time says that it was notified.
TimeOutAsNotified(w) ==
    /\ w \in Timed
    /\ pc[w] = "Asleep"
    /\ Claim(w, "notified")
    /\ Go(w, IF IsUnclaimed(w) THEN "Relock" ELSE "Claimed")
    /\ UNCHANGED <<lock, queue, woken, requested, registered, result, hand>>

\* Every wait says that it was notified.
LeaveAsNotified(w) ==
    /\ pc[w] = "Leave"
    /\ registered' = registered \ {w}
    /\ result' = [result EXCEPT ![w] = "notified"]
    /\ requested' = IF "interrupted" \in claims[w] THEN requested \ {w} ELSE requested
    /\ Go(w, "Unlock")
    /\ UNCHANGED <<lock, queue, claims, woken, hand>>

\* A thread that has left stays registered, and can still be interrupted.
LeaveRegistered(w) ==
    /\ pc[w] = "Leave"
    /\ result' = [result EXCEPT ![w] = CHOOSE reason \in claims[w] : TRUE]
    /\ requested' = IF "interrupted" \in claims[w] THEN requested \ {w} ELSE requested
    /\ Go(w, "Unlock")
    /\ UNCHANGED <<lock, queue, claims, woken, registered, hand>>

\* The waiter that came last is taken from the queue.
PopTheLast(n) ==
    /\ pc[n] = "Pop"
    /\ IF queue = <<>>
       THEN /\ Go(n, "Unlock")
            /\ UNCHANGED <<queue, hand>>
       ELSE /\ hand' = [hand EXCEPT ![n] = queue[Len(queue)]]
            /\ queue' = SubSeq(queue, 1, Len(queue) - 1)
            /\ Go(n, "Notify")
    /\ UNCHANGED <<lock, claims, woken, requested, registered, result>>
=============================================================================
