----------------------- MODULE MCMaybeTryComplete_bugs -----------------------
(* What replaces an action of MaybeTryComplete to bring a mistake into it. *)
EXTENDS MCMaybeTryComplete

\* KAFKA-385: the predicate is tested without the operation's lock.
GoWithoutLock(t) ==
    /\ pc[t] = "Lock"
    /\ Go(t, "TryComplete")
    /\ UNCHANGED <<lock, state, pending, events, answers, expirations, retry, ender, owed>>

UnlockNothing(t) ==
    /\ pc[t] = "Unlock"
    /\ Go(t, IF t \in Triggers THEN "Done" ELSE "OnExpiration")
    /\ UNCHANGED <<lock, state, pending, events, answers, expirations, retry, ender, owed>>

\* KAFKA-6653, first fix: one retry, then whoever is turned away is forgotten.
RetryOnce(t) ==
    LET won == lock = None IN
    /\ pc[t] = "TryLock"
    /\ lock' = IF won THEN t ELSE lock
    /\ retry' = [retry EXCEPT ![t] = ~won /\ ~@]
    /\ Go(t, IF won THEN "TryComplete" ELSE IF retry[t] THEN "Done" ELSE "TryLock")
    /\ UNCHANGED <<state, pending, events, answers, expirations, ender, owed>>

\* The state is tested and set in two steps.
TestAndSet(t) ==
    /\ \/ /\ pc[t] = "ForceComplete"
          /\ Go(t, IF Done THEN Refused(t) ELSE "SetState")
          /\ UNCHANGED <<state, ender>>
       \/ /\ pc[t] = "SetState"
          /\ state' = "completed"
          /\ ender' = t
          /\ Go(t, "OnComplete")
    /\ UNCHANGED <<lock, pending, events, answers, expirations, retry, owed>>

\* The time-out is told of whether it completed the operation or not.
ExpireAnyway(t) ==
    /\ pc[t] = "ForceComplete"
    /\ state' = "completed"
    /\ ender' = IF Done THEN ender ELSE t
    /\ Go(t, IF Done THEN IF t \in Timers THEN "OnExpiration" ELSE Refused(t) ELSE "OnComplete")
    /\ UNCHANGED <<lock, pending, events, answers, expirations, retry, owed>>

\* Nobody is answered.
ForgetTheCallback(t) ==
    /\ pc[t] = "OnComplete"
    /\ Go(t, IF lock = t THEN "Unlock" ELSE "Done")
    /\ UNCHANGED <<lock, state, pending, events, answers, expirations, retry, ender, owed>>

\* The flag is cleared after the test, and with it what came in between.
ClearAfterwards(t) ==
    /\ pc[t] = "ReadPending"
    /\ pending' = FALSE
    /\ Go(t, "IsDoneAgain")
    /\ UNCHANGED <<lock, state, events, answers, expirations, retry, ender, owed>>

\* Whoever completes the operation keeps its lock.
KeepTheLock(t) ==
    /\ pc[t] = "OnComplete"
    /\ answers' = answers + 1
    /\ Go(t, IF t \in Timers THEN "OnExpiration" ELSE "Done")
    /\ UNCHANGED <<lock, state, pending, events, expirations, retry, ender, owed>>

\* Whoever gets the lock leaves a wish for itself.
WishAlone(t) ==
    /\ pc[t] = "ClearPending"
    /\ pending' = TRUE
    /\ Go(t, "TryComplete")
    /\ UNCHANGED <<lock, state, events, answers, expirations, retry, ender, owed>>
=============================================================================
