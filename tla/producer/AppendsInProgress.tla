-------------------------- MODULE AppendsInProgress --------------------------
(***************************************************************************)
(* How a forced close waits for the appends that are under way: a count,   *)
(* a condition, and rounds of aborting until nobody appends.               *)
(*                                                                         *)
(* Source.       standard 4.1, 4.9, 4.10.  Kafka spins; the reference      *)
(*               sleeps until an append has ended.                         *)
(* Kafka.        RecordAccumulator: appendsInProgress,                     *)
(*               abortIncompleteBatches, close.                            *)
(* Abstraction.  Between its begin and its end an append looks whether the *)
(*               accumulator has been closed, and makes a batch.  A round  *)
(*               of aborting is one step.                                  *)
(* Atomicity.    One step for each acquisition of the lock, for each       *)
(*               release, for the notification, and two for a wait:        *)
(*               falling asleep, which releases the lock, and waking up.   *)
(*               The counts are guarded by the lock, so they change        *)
(*               together with its acquisition.                            *)
(* Fairness.     Weak for each thread, and strong for taking the lock,     *)
(*               which restless appenders want again and again.            *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    Appenders,      \* threads that append a record
    Restless,       \* those of them that append again and again, also after the close
    Closers,        \* the thread that closes and aborts: one at most
    Closes,         \* whether it closes first; else it aborts while others append
    SpuriousWakeUps, \* whether a wait may end for no reason
    None            \* nobody

ASSUME Restless \subseteq Appenders
ASSUME Cardinality(Closers) <= 1
ASSUME Closes \in BOOLEAN /\ SpuriousWakeUps \in BOOLEAN

VARIABLES
    lock,           \* the thread that holds the lock
    count,          \* the appends that have begun and not ended
    completed,      \* the appends that have ended
    asleep,         \* who waits for one less, and has not been notified
    closed,         \* whether the accumulator takes no more records
    batches,        \* the appenders whose batch has not been aborted
    seen,           \* closer -> how many appends had ended when its round began
    lastRound,      \* whether the round under way is the one after the last append
    pc              \* thread -> its next step

vars == <<lock, count, completed, asleep, closed, batches, seen, lastRound, pc>>

Threads == Appenders \cup Closers

Go(t, step) == pc' = [pc EXCEPT ![t] = step]

\* The count of what has ended is compared with an earlier one; a model bounds it.
OneMore(number) == number + 1

Init ==
    /\ lock = None
    /\ count = 0
    /\ completed = 0
    /\ asleep = {}
    /\ closed = FALSE
    /\ batches = {}
    /\ seen = [c \in Closers |-> 0]
    /\ lastRound = FALSE
    /\ pc = [t \in Threads |-> IF t \in Appenders THEN "Begin" ELSE "Close"]

-----------------------------------------------------------------------------
(* An append (4.1) *)

\* The lock is held from here to Unlock, as in all that follow.
Begin(a) ==
    /\ pc[a] = "Begin"
    /\ lock = None
    /\ lock' = a
    /\ count' = count + 1
    /\ Go(a, "UnlockBegun")
    /\ UNCHANGED <<completed, asleep, closed, batches, seen, lastRound>>

TestClosed(a) ==
    /\ pc[a] = "TestClosed"
    /\ Go(a, IF closed THEN "End" ELSE "MakeBatch")
    /\ UNCHANGED <<lock, count, completed, asleep, closed, batches, seen, lastRound>>

MakeBatch(a) ==
    /\ pc[a] = "MakeBatch"
    /\ batches' = batches \cup {a}
    /\ Go(a, "End")
    /\ UNCHANGED <<lock, count, completed, asleep, closed, seen, lastRound>>

End(a) ==
    /\ pc[a] = "End"
    /\ lock = None
    /\ lock' = a
    /\ count' = count - 1
    /\ completed' = OneMore(completed)
    /\ Go(a, "Notify")
    /\ UNCHANGED <<asleep, closed, batches, seen, lastRound>>

Notify(a) ==
    /\ pc[a] = "Notify"
    /\ asleep' = {}
    /\ Go(a, "UnlockEnded")
    /\ UNCHANGED <<lock, count, completed, closed, batches, seen, lastRound>>

-----------------------------------------------------------------------------
(* A forced close (4.9, 4.10) *)

Close(c) ==
    /\ pc[c] = "Close"
    /\ closed' = Closes
    /\ Go(c, "Completed")
    /\ UNCHANGED <<lock, count, completed, asleep, batches, seen, lastRound>>

\* How many appends are over, before the round.
Completed(c) ==
    /\ pc[c] = "Completed"
    /\ lock = None
    /\ lock' = c
    /\ seen' = [seen EXCEPT ![c] = completed]
    /\ Go(c, "UnlockCompleted")
    /\ UNCHANGED <<count, completed, asleep, closed, batches, lastRound>>

AbortRound(c) ==
    /\ pc[c] = "AbortRound"
    /\ batches' = {}
    /\ Go(c, IF lastRound THEN "Done" ELSE "AwaitLock")
    /\ UNCHANGED <<lock, count, completed, asleep, closed, seen, lastRound>>

AwaitLock(c) ==
    /\ pc[c] \in {"AwaitLock", "Relock"}
    /\ lock = None
    /\ lock' = c
    /\ Go(c, "AwaitTest")
    /\ UNCHANGED <<count, completed, asleep, closed, batches, seen, lastRound>>

\* Under the lock: an append is under way, and none has ended since the round began.
MustWait(c) == count > 0 /\ completed = seen[c]

\* Falls asleep and releases the lock, or releases it and goes on.
AwaitTest(c) ==
    /\ pc[c] = "AwaitTest"
    /\ lock' = None
    /\ IF MustWait(c)
       THEN /\ asleep' = asleep \cup {c}
            /\ Go(c, "Asleep")
            /\ UNCHANGED lastRound
       ELSE /\ lastRound' = (count = 0)
            /\ Go(c, IF count = 0 THEN "AbortRound" ELSE "Completed")
            /\ UNCHANGED asleep
    /\ UNCHANGED <<count, completed, closed, batches, seen>>

Wake(c) ==
    /\ pc[c] = "Asleep"
    /\ c \notin asleep
    /\ Go(c, "Relock")
    /\ UNCHANGED <<lock, count, completed, asleep, closed, batches, seen, lastRound>>

WakeSpuriously(c) ==
    /\ SpuriousWakeUps
    /\ pc[c] = "Asleep"
    /\ asleep' = asleep \ {c}
    /\ Go(c, "Relock")
    /\ UNCHANGED <<lock, count, completed, closed, batches, seen, lastRound>>

-----------------------------------------------------------------------------

AfterUnlock(t) ==
    CASE pc[t] = "UnlockBegun" -> "TestClosed"
      [] pc[t] = "UnlockEnded" -> IF t \in Restless THEN "Begin" ELSE "Done"
      [] pc[t] = "UnlockCompleted" -> "AbortRound"

Unlock(t) ==
    /\ pc[t] \in {"UnlockBegun", "UnlockEnded", "UnlockCompleted"}
    /\ lock' = None
    /\ Go(t, AfterUnlock(t))
    /\ UNCHANGED <<count, completed, asleep, closed, batches, seen, lastRound>>

\* All have ended: the only state without a step.
Terminated ==
    /\ \A t \in Threads : pc[t] = "Done"
    /\ UNCHANGED vars

AppenderStep(a) == TestClosed(a) \/ MakeBatch(a) \/ Notify(a) \/ Unlock(a)
CloserStep(c) == AbortRound(c) \/ AwaitTest(c) \/ Wake(c) \/ Unlock(c)
CloserLock(c) == Completed(c) \/ AwaitLock(c)

Next ==
    \/ \E a \in Appenders : Begin(a) \/ AppenderStep(a) \/ End(a)
    \/ \E c \in Closers : Close(c)
    \/ \E c \in Closers : CloserStep(c) \/ CloserLock(c)
    \/ \E c \in Closers : WakeSpuriously(c)
    \/ Terminated

Fairness ==
    /\ \A a \in Appenders : WF_vars(AppenderStep(a)) /\ SF_vars(Begin(a)) /\ SF_vars(End(a))
    /\ \A c \in Closers : WF_vars(CloserStep(c)) /\ SF_vars(CloserLock(c))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Invariants *)

LockedSteps == {"UnlockBegun", "Notify", "UnlockEnded", "UnlockCompleted", "AwaitTest"}

Steps ==
    LockedSteps \cup
    {"Begin", "TestClosed", "MakeBatch", "End", "Close", "Completed", "AbortRound", "AwaitLock",
     "Relock", "Asleep", "Done"}

TypeOK ==
    /\ lock \in Threads \cup {None}
    /\ count \in 0..Cardinality(Appenders)
    /\ completed \in Nat
    /\ asleep \subseteq Closers
    /\ closed \in BOOLEAN
    /\ batches \subseteq Appenders
    /\ seen \in [Closers -> Nat]
    /\ lastRound \in BOOLEAN
    /\ pc \in [Threads -> Steps]

MutualExclusion == \A t \in Threads : pc[t] \in LockedSteps <=> lock = t

CountIsWhoIsAppending ==
    count = Cardinality({a \in Appenders :
        pc[a] \in {"UnlockBegun", "TestClosed", "MakeBatch", "End"}})

\* Who sleeps will be woken: by an append that is under way.
NobodySleepsForNobody == lock = None /\ asleep # {} => count > 0

\* Rule 4.10: what an append had made when it ended is aborted, and the last of them is not missed.
AbortLeavesNothing == closed /\ (\A c \in Closers : pc[c] = "Done") => batches = {}

(* Action properties *)

\* So a closer sees that it need not wait.
EveryEndIsCounted ==
    [][\A a \in Appenders : pc[a] = "End" /\ pc'[a] # "End" => completed' = OneMore(completed)]_vars

NobodySleepsThoughAnAppendHasEnded ==
    [][\A c \in asleep' \ asleep : completed = seen[c]]_vars

NobodyWakesForNoReason ==
    [][\A c \in asleep \ asleep' :
        SpuriousWakeUps \/ \E a \in Appenders : pc[a] = "Notify"]_vars

(* Liveness *)

\* Once closed: every append ends by itself, and the closer with them.
CloseEnds == \A c \in Closers : pc[c] # "Close" ~> pc[c] = "Done"

\* While others append without end, no round is the last, but each wait ends.
EveryWaitEnds == \A c \in Closers : pc[c] = "Asleep" ~> pc[c] # "Asleep"
=============================================================================
