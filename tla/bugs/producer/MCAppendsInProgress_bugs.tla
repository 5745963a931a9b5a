---------------------- MODULE MCAppendsInProgress_bugs -----------------------
(* What replaces an action of AppendsInProgress to bring a mistake into it. *)
EXTENDS MCAppendsInProgress

\* An append ends in silence.
NotifyNobody(a) ==
    /\ pc[a] = "Notify"
    /\ Go(a, "UnlockEnded")
    /\ UNCHANGED <<lock, count, completed, asleep, closed, batches, seen, lastRound>>

\* The round after the last append is left out.
NoLastRound(c) ==
    /\ pc[c] = "AwaitTest"
    /\ lock' = None
    /\ IF MustWait(c)
       THEN /\ asleep' = asleep \cup {c}
            /\ Go(c, "Asleep")
       ELSE /\ Go(c, IF count = 0 THEN "Done" ELSE "Completed")
            /\ UNCHANGED asleep
    /\ UNCHANGED <<count, completed, closed, batches, seen, lastRound>>

\* The test and the wait are not one: an append may end between them.
TestThenSleep(c) ==
    /\ \/ /\ pc[c] = "AwaitTest"
          /\ lock' = None
          /\ IF MustWait(c)
             THEN Go(c, "FallAsleep") /\ UNCHANGED lastRound
             ELSE /\ lastRound' = (count = 0)
                  /\ Go(c, IF count = 0 THEN "AbortRound" ELSE "Completed")
          /\ UNCHANGED asleep
       \/ /\ pc[c] = "FallAsleep"
          /\ asleep' = asleep \cup {c}
          /\ Go(c, "Asleep")
          /\ UNCHANGED <<lock, lastRound>>
    /\ UNCHANGED <<count, completed, closed, batches, seen>>

\* An append ends twice as far as the count is concerned.
EndTwice(a) ==
    /\ pc[a] = "End"
    /\ lock = None
    /\ lock' = a
    /\ count' = IF count > 1 THEN count - 2 ELSE count - 1
    /\ completed' = OneMore(completed)
    /\ Go(a, "Notify")
    /\ UNCHANGED <<asleep, closed, batches, seen, lastRound>>

\* The lock keeps nobody out.
BeginUnlocked(a) ==
    /\ pc[a] = "Begin"
    /\ lock' = a
    /\ count' = count + 1
    /\ Go(a, "UnlockBegun")
    /\ UNCHANGED <<completed, asleep, closed, batches, seen, lastRound>>

\* The end of an append is not counted among those that have ended.
EndUncounted(a) ==
    /\ pc[a] = "End"
    /\ lock = None
    /\ lock' = a
    /\ count' = count - 1
    /\ Go(a, "Notify")
    /\ UNCHANGED <<completed, asleep, closed, batches, seen, lastRound>>

\* A closer sleeps as long as anybody appends, whoever has ended.
WaitWhileAnybodyAppends(c) == count > 0

\* Whoever sleeps wakes without being told.
WakeUnasked(c) ==
    /\ pc[c] = "Asleep"
    /\ asleep' = asleep \ {c}
    /\ Go(c, "Relock")
    /\ UNCHANGED <<lock, count, completed, closed, batches, seen, lastRound>>
=============================================================================
