----------------------- MODULE AppendsInProgressProof -----------------------
(***************************************************************************)
(* The clauses of the inductive invariant of AppendsInProgress, and what   *)
(* follows from them.  `python -m wheelproof_lab prove` derives the        *)
(* actions from the text of AppendsInProgress, and reads the clauses here: *)
(* together they hold at first, and each action keeps each of them, for    *)
(* any number of appenders.  TLC checks the same clauses as invariants.    *)
(***************************************************************************)
EXTENDS AppendsInProgress

\* One closer at most, as ASSUME says with Cardinality, and it does not append.
OneCloserThatDoesNotAppend ==
    /\ \A c, d \in Closers : c = d
    /\ \A c \in Closers : c \notin Appenders

StepsOfAppenders ==
    {"Begin", "UnlockBegun", "TestClosed", "MakeBatch", "End", "Notify", "UnlockEnded", "Done"}

StepsOfClosers ==
    {"Close", "Completed", "UnlockCompleted", "AbortRound", "AwaitLock", "Relock", "AwaitTest",
     "Asleep", "Done"}

\* An appender is never in the middle of what a closer does, and the other way round.
EachThreadIsAtAStepOfItsOwn ==
    \A t \in Threads :
        /\ t \in Appenders => pc[t] \in StepsOfAppenders
        /\ t \in Closers => pc[t] \in StepsOfClosers

\* No two threads hold the lock.
TheLockHasOneHolder == \A t, u \in Threads : lock = t /\ lock = u => t = u

\* A thread holds the lock exactly between the step that takes it and the one that releases it.
TheLockIsHeldInside == \A t \in Threads : pc[t] \in LockedSteps <=> lock = t

\* The count is the number of the appends that have begun and not ended.
TheCountIsOfThoseUnderWay ==
    count = Cardinality({a \in Appenders :
        pc[a] \in {"UnlockBegun", "TestClosed", "MakeBatch", "End"}})

\* Whoever has not been notified is asleep.
OnlyASleeperIsNotified == \A c \in Closers : c \in asleep => pc[c] = "Asleep"

\* Whoever sleeps will be woken: an append is under way, or one has ended and is about to notify.
WhoeverSleepsWillBeTold ==
    \A c \in Closers :
        c \in asleep => count > 0 \/ \E a \in Appenders : pc[a] = "Notify"

\* It is the closer that closes, and it does so first.
CloseComesFirst == closed => \E c \in Closers : pc[c] # "Close"

\* In the round after the last append the closer aborts, and is done.
TheLastRoundEnds == \A c \in Closers : lastRound => pc[c] \in {"AbortRound", "Done"}

\* After the last append of a closed accumulator nobody makes a batch any more.
NobodyMakesABatchAfterTheLast ==
    closed /\ lastRound => \A a \in Appenders : pc[a] # "MakeBatch"

\* A closer is done after the last round alone.
ACloserIsDoneAfterTheLastRound ==
    \A c \in Closers : pc[c] = "Done" => lastRound /\ (closed => batches = {})

-----------------------------------------------------------------------------
(* What follows *)

\* Nobody sleeps while no append is under way that will wake it.
NobodySleepsInVain == lock = None => \A c \in Closers : c \in asleep => count > 0

\* When the close is done, the batches of all appends have been aborted, however late they came.
NothingIsLeftByTheClose == closed /\ (\A c \in Closers : pc[c] = "Done") => batches = {}

\* Nobody falls asleep though an append has ended since its round began.
NobodySleepsThoughOneHasEnded ==
    [][\A c \in Closers : c \notin asleep /\ c \in asleep' => completed = seen[c]]_vars
=============================================================================
