----------------------------- MODULE DelayQueue -----------------------------
(***************************************************************************)
(* How threads wait in the delay queue: until its head is due, until their *)
(* time is out, until it is closed.                                        *)
(*                                                                         *)
(* Source.       standard 1.6, 1.7, 1.18; in SystemTimer the wait is       *)
(*               the step AwaitDue, which may end at any time.             *)
(* Kafka.        java.util.concurrent.DelayQueue: offer, poll.             *)
(* Abstraction.  A bucket is its expiration, and is offered once.  Whoever *)
(*               finds the head due takes it by a call of its own, so      *)
(*               another thread may be faster.  Java's DelayQueue lets one *)
(*               thread, its leader, wait for the head, and the others     *)
(*               until they are told; here each waits for the head.        *)
(* Atomicity.    One step for each acquisition and release of the lock,    *)
(*               for each reading of the clock that decides something, for *)
(*               the notification; two for a wait: falling asleep, which   *)
(*               releases the lock, and waking up.                         *)
(* Fairness.     Weak, for time and for each thread, and strong for taking *)
(*               the lock.  Nobody need offer or close.                    *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    Takers,         \* threads that wait until the head is due, and take it, again and again
    Limit,          \* taker -> how long it waits at most, in milliseconds
    Offerers,       \* threads that offer one bucket each
    KeyOf,          \* offerer -> the expiration of its bucket, in milliseconds
    Closers,        \* threads that close the queue
    SpuriousWakeUps, \* whether a wait may end for no reason
    None            \* nobody, nothing

ASSUME Limit \in [Takers -> Nat]
ASSUME KeyOf \in [Offerers -> Nat]
ASSUME SpuriousWakeUps \in BOOLEAN

VARIABLES
    now,            \* what the clock shows, in milliseconds
    lock,           \* the thread that holds the lock
    queued,         \* the buckets in the queue, by their offerers
    taken,          \* the buckets that have been taken
    closed,         \* whether nobody waits here any more
    asleep,         \* the takers that sleep and have not been notified
    wakeAt,         \* taker -> when its sleep ends by itself, in milliseconds
    deadline,       \* taker -> when its wait ends, in milliseconds
    pc              \* thread -> its next step

vars == <<now, lock, queued, taken, closed, asleep, wakeAt, deadline, pc>>

Threads == Takers \cup Offerers \cup Closers

Go(t, step) == pc' = [pc EXCEPT ![t] = step]

\* When time goes on; a model sets an end to it.
Later(time) == {time + 1}

Min(a, b) == IF a < b THEN a ELSE b

Heads == {o \in queued : \A other \in queued : KeyOf[o] <= KeyOf[other]}

HeadIsDue == \E o \in Heads : KeyOf[o] <= now

Init ==
    /\ now = 0
    /\ lock = None
    /\ queued = {}
    /\ taken = {}
    /\ closed = FALSE
    /\ asleep = {}
    /\ wakeAt = [t \in Takers |-> 0]
    /\ deadline = [t \in Takers |-> 0]
    /\ pc = [t \in Threads |->
            CASE t \in Takers -> "ReadClock"
              [] t \in Offerers -> "Offer"
              [] t \in Closers -> "Close"]

Tick ==
    /\ now' \in Later(now)
    /\ UNCHANGED <<lock, queued, taken, closed, asleep, wakeAt, deadline, pc>>

-----------------------------------------------------------------------------
(* await_due *)

ReadClock(t) ==
    /\ pc[t] = "ReadClock"
    /\ deadline' = [deadline EXCEPT ![t] = now + Limit[t]]
    /\ Go(t, "Lock")
    /\ UNCHANGED <<now, lock, queued, taken, closed, asleep, wakeAt>>

\* The lock is held from here on, but for the sleep.
Lock(t) ==
    /\ pc[t] = "Lock"
    /\ lock = None
    /\ lock' = t
    /\ Go(t, "TestHead")
    /\ UNCHANGED <<now, queued, taken, closed, asleep, wakeAt, deadline>>

TestHead(t) ==
    /\ pc[t] = "TestHead"
    /\ Go(t, IF HeadIsDue THEN "UnlockDue" ELSE "TestDeadline")
    /\ UNCHANGED <<now, lock, queued, taken, closed, asleep, wakeAt, deadline>>

TestDeadline(t) ==
    /\ pc[t] = "TestDeadline"
    /\ Go(t, IF closed \/ now >= deadline[t] THEN "UnlockInVain" ELSE "Await")
    /\ UNCHANGED <<now, lock, queued, taken, closed, asleep, wakeAt, deadline>>

\* As long as the head, or its own time, allows.
NextLook(t) ==
    IF queued = {} THEN deadline[t] ELSE Min(deadline[t], KeyOf[CHOOSE o \in Heads : TRUE])

Await(t) ==
    /\ pc[t] = "Await"
    /\ lock' = None
    /\ asleep' = asleep \cup {t}
    /\ wakeAt' = [wakeAt EXCEPT ![t] = NextLook(t)]
    /\ Go(t, "Asleep")
    /\ UNCHANGED <<now, queued, taken, closed, deadline>>

Wake(t) ==
    /\ pc[t] = "Asleep"
    /\ t \notin asleep \/ now >= wakeAt[t]
    /\ asleep' = asleep \ {t}
    /\ wakeAt' = [wakeAt EXCEPT ![t] = 0]
    /\ Go(t, "Lock")
    /\ UNCHANGED <<now, lock, queued, taken, closed, deadline>>

WakeSpuriously(t) ==
    /\ SpuriousWakeUps
    /\ pc[t] = "Asleep"
    /\ t \in asleep
    /\ asleep' = asleep \ {t}
    /\ wakeAt' = [wakeAt EXCEPT ![t] = 0]
    /\ Go(t, "Lock")
    /\ UNCHANGED <<now, lock, queued, taken, closed, deadline>>

Unlock(t) ==
    /\ pc[t] \in {"UnlockDue", "UnlockInVain", "UnlockOffer", "UnlockClose"}
    /\ lock' = None
    /\ Go(t, CASE pc[t] = "UnlockDue" -> "Poll"
               [] pc[t] = "UnlockInVain" -> IF closed THEN "Done" ELSE "ReadClock"
               [] OTHER -> "Done")
    /\ UNCHANGED <<now, queued, taken, closed, asleep, wakeAt, deadline>>

-----------------------------------------------------------------------------
(* poll, offer, close: each under the lock *)

\* Together with the release: nobody else reads what is queued without the lock.
Poll(t) ==
    /\ pc[t] = "Poll"
    /\ lock = None
    /\ IF HeadIsDue
       THEN \E o \in Heads :
            /\ queued' = queued \ {o}
            /\ taken' = taken \cup {o}
       ELSE UNCHANGED <<queued, taken>>
    /\ Go(t, "ReadClock")
    /\ UNCHANGED <<now, lock, closed, asleep, wakeAt, deadline>>

\* Whoever is asleep looks again if there is a new head.
Offer(o) ==
    /\ pc[o] = "Offer"
    /\ lock = None
    /\ lock' = o
    /\ queued' = queued \cup {o}
    /\ Go(o, IF \A other \in queued : KeyOf[o] < KeyOf[other] THEN "Notify" ELSE "UnlockOffer")
    /\ UNCHANGED <<now, taken, closed, asleep, wakeAt, deadline>>

Close(c) ==
    /\ pc[c] = "Close"
    /\ lock = None
    /\ lock' = c
    /\ closed' = TRUE
    /\ Go(c, "Notify")
    /\ UNCHANGED <<now, queued, taken, asleep, wakeAt, deadline>>

Notify(t) ==
    /\ pc[t] = "Notify"
    /\ asleep' = {}
    /\ Go(t, IF t \in Closers THEN "UnlockClose" ELSE "UnlockOffer")
    /\ UNCHANGED <<now, lock, queued, taken, closed, wakeAt, deadline>>

-----------------------------------------------------------------------------

\* All have ended: the only state without a step.
Terminated ==
    /\ \A t \in Takers : pc[t] = "Done"
    /\ \A t \in Offerers \cup Closers : pc[t] \in {"Offer", "Close", "Done"}
    /\ UNCHANGED vars

TakerStep(t) ==
    ReadClock(t) \/ TestHead(t) \/ TestDeadline(t) \/ Await(t) \/ Wake(t) \/ Unlock(t)

Next ==
    \/ Tick
    \/ \E t \in Takers : TakerStep(t) \/ Lock(t) \/ Poll(t)
    \/ \E t \in Takers : WakeSpuriously(t)
    \/ \E o \in Offerers : Offer(o) \/ Notify(o) \/ Unlock(o)
    \/ \E c \in Closers : Close(c) \/ Notify(c) \/ Unlock(c)
    \/ Terminated

Fairness ==
    /\ WF_vars(Tick)
    /\ \A t \in Takers : WF_vars(TakerStep(t)) /\ SF_vars(Lock(t)) /\ SF_vars(Poll(t))
    /\ \A t \in Offerers \cup Closers : WF_vars(Notify(t) \/ Unlock(t))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Invariants *)

LockedSteps ==
    {"TestHead", "TestDeadline", "Await", "Notify", "UnlockDue", "UnlockInVain", "UnlockOffer",
     "UnlockClose"}

Steps == LockedSteps \cup {"ReadClock", "Lock", "Asleep", "Poll", "Offer", "Close", "Done"}

TypeOK ==
    /\ now \in Nat
    /\ lock \in Threads \cup {None}
    /\ queued \subseteq Offerers
    /\ taken \subseteq Offerers
    /\ closed \in BOOLEAN
    /\ asleep \subseteq Takers
    /\ wakeAt \in [Takers -> Nat]
    /\ deadline \in [Takers -> Nat]
    /\ pc \in [Threads -> Steps]

MutualExclusion == \A t \in Threads : pc[t] \in LockedSteps <=> lock = t

\* Who sleeps wakes up when the head is due, without being told: no bucket is late by a sleep.
NobodySleepsPastTheHead ==
    lock = None => \A t \in asleep : \A o \in queued : wakeAt[t] <= KeyOf[o]

NobodySleepsPastTheLimit == \A t \in asleep : wakeAt[t] <= deadline[t]

ClosedQueueLetsNobodySleep == closed /\ lock = None => asleep = {}

BucketIsTakenOnce == queued \cap taken = {}

\* A queue is closed by close(), and by nobody else.
OpenUntilItIsClosed == closed = (\E c \in Closers : pc[c] # "Close")

TheLimitCountsFromTheCall ==
    \A t \in Takers : pc[t] # "ReadClock" => deadline[t] \in Limit[t]..(now + Limit[t])

\* Whoever is awake has no time at which it wakes.
OnlySleepersHaveATime == \A t \in Takers : pc[t] # "Asleep" => wakeAt[t] = 0

(* Action properties *)

\* Rule 1.6: in the order of expiration, and not before.
FirstComesFirstWhenItIsDue ==
    [][\A o \in taken' \ taken :
        KeyOf[o] <= now /\ \A other \in queued : KeyOf[o] <= KeyOf[other]]_vars

\* No wait ends before it has to, and none goes on beyond that.
WaitGoesOnUntilTheLimit ==
    [][\A t \in Takers : pc[t] = "TestDeadline" /\ pc'[t] # pc[t] =>
        (pc'[t] = "Await") = (~closed /\ now < deadline[t])]_vars

NobodyWakesForNoReason ==
    [][\A t \in asleep \ asleep' :
        SpuriousWakeUps \/ now >= wakeAt[t] \/ \E u \in Threads : pc[u] = "Notify"]_vars

\* A call is done once: what it did is not done again.
DoneIsDone == [][\A t \in Threads : pc[t] = "Done" => pc'[t] = "Done"]_vars

(* Liveness *)

\* Unless the queue is closed: then nobody need come back.
WhatIsQueuedIsTaken == \A o \in Offerers : o \in queued ~> o \in taken \/ closed

CloseReleasesEveryone == closed ~> asleep = {}
=============================================================================
