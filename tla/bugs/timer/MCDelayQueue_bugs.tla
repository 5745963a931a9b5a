-------------------------- MODULE MCDelayQueue_bugs --------------------------
(* What replaces an action or an operator of DelayQueue to bring a mistake into it. *)
EXTENDS MCDelayQueue

\* A new head is told only if there was none before.
OfferInSilence(o) ==
    /\ pc[o] = "Offer"
    /\ lock = None
    /\ lock' = o
    /\ queued' = queued \cup {o}
    /\ Go(o, IF queued = {} THEN "Notify" ELSE "UnlockOffer")
    /\ UNCHANGED <<now, taken, closed, asleep, wakeAt, deadline>>

\* Sleeps for the head, whatever its own limit.
SleepForTheHead(t) == IF queued = {} THEN deadline[t] ELSE KeyOf[CHOOSE o \in Heads : TRUE]

\* Sleeps for its own limit, whatever the head.
SleepForTheLimit(t) == deadline[t]

\* close() does not wake anybody.
CloseInSilence(c) ==
    /\ pc[c] = "Close"
    /\ lock = None
    /\ lock' = c
    /\ closed' = TRUE
    /\ Go(c, "UnlockClose")
    /\ UNCHANGED <<now, queued, taken, asleep, wakeAt, deadline>>

\* Whoever has closed the queue closes it again.
CloseAgain(c) ==
    /\ pc[c] \in {"Close", "Done"}
    /\ lock = None
    /\ lock' = c
    /\ closed' = TRUE
    /\ Go(c, "Notify")
    /\ UNCHANGED <<now, queued, taken, asleep, wakeAt, deadline>>

\* Any bucket is the head; what is not due as well; a bucket stays when it is taken.
AnyHead == queued

DueSoon == \E o \in Heads : KeyOf[o] <= now + 1

PollAndLeave(t) ==
    /\ pc[t] = "Poll"
    /\ lock = None
    /\ taken' = IF HeadIsDue THEN taken \cup Heads ELSE taken
    /\ Go(t, "ReadClock")
    /\ UNCHANGED <<now, lock, queued, closed, asleep, wakeAt, deadline>>

\* The lock is not taken again after a sleep.
WakeUnlocked(t) ==
    /\ pc[t] = "Asleep"
    /\ t \notin asleep \/ now >= wakeAt[t]
    /\ asleep' = asleep \ {t}
    /\ wakeAt' = [wakeAt EXCEPT ![t] = 0]
    /\ Go(t, "TestHead")
    /\ UNCHANGED <<now, lock, queued, taken, closed, deadline>>

\* Whoever is due is not taken: the head is looked at once.
PollNothing(t) ==
    /\ pc[t] = "Poll"
    /\ Go(t, "ReadClock")
    /\ UNCHANGED <<now, lock, queued, taken, closed, asleep, wakeAt, deadline>>

\* Whoever sleeps wakes without being told, before its time.
WakeUnasked(t) ==
    /\ pc[t] = "Asleep"
    /\ asleep' = asleep \ {t}
    /\ wakeAt' = [wakeAt EXCEPT ![t] = 0]
    /\ Go(t, "Lock")
    /\ UNCHANGED <<now, lock, queued, taken, closed, deadline>>

\* The time of a sleep stays when it is over.
WakeAndKeepTheTime(t) ==
    /\ pc[t] = "Asleep"
    /\ t \notin asleep \/ now >= wakeAt[t]
    /\ asleep' = asleep \ {t}
    /\ Go(t, "Lock")
    /\ UNCHANGED <<now, lock, queued, taken, closed, wakeAt, deadline>>

\* A wait may take a millisecond more.
ReadClockAhead(t) ==
    /\ pc[t] = "ReadClock"
    /\ deadline' = [deadline EXCEPT ![t] = now + Limit[t] + 1]
    /\ Go(t, "Lock")
    /\ UNCHANGED <<now, lock, queued, taken, closed, asleep, wakeAt>>

\* A thread that finds nothing due does not wait.
GiveUpAtOnce(t) ==
    /\ pc[t] = "TestDeadline"
    /\ Go(t, "UnlockInVain")
    /\ UNCHANGED <<now, lock, queued, taken, closed, asleep, wakeAt, deadline>>

\* A wait that ends in vain closes the queue.
GiveUpAndClose(t) ==
    /\ pc[t] = "TestDeadline"
    /\ closed' = (closed \/ now >= deadline[t])
    /\ Go(t, IF closed' THEN "UnlockInVain" ELSE "Await")
    /\ UNCHANGED <<now, lock, queued, taken, asleep, wakeAt, deadline>>

\* close() wakes one of those who sleep.
CloseWakesOne(t) ==
    /\ pc[t] = "Notify"
    /\ IF t \in Closers /\ asleep # {}
       THEN \E one \in asleep : asleep' = asleep \ {one}
       ELSE asleep' = {}
    /\ Go(t, IF t \in Closers THEN "UnlockClose" ELSE "UnlockOffer")
    /\ UNCHANGED <<now, lock, queued, taken, closed, wakeAt, deadline>>
=============================================================================
