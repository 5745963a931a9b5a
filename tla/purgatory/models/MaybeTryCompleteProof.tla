----------------------- MODULE MaybeTryCompleteProof -----------------------
(***************************************************************************)
(* The clauses of the inductive invariant of MaybeTryComplete, and what    *)
(* follows from them.  `python -m wheelproof_lab prove` derives the        *)
(* actions from the text of MaybeTryComplete, and reads the clauses here:  *)
(* together they hold at first, and each action keeps each of them, for    *)
(* any number of threads.  TLC checks the same clauses as invariants.      *)
(***************************************************************************)
EXTENDS MaybeTryComplete

\* What the flag needs: no other thread takes the lock, and no predicate raises.
NobodyInterferes == Holders = {} /\ Raising = {}

-----------------------------------------------------------------------------
(* Where the threads are *)

Releasing == {"Unlock", "UnlockAndRaise"}

\* The steps of a trigger at which it holds the lock, besides those that release it.
Inside ==
    {"TryComplete", "ForceComplete", "OnComplete"} \cup
    (CASE Discipline = "try_lock_pending" -> {"ClearPending"}
       [] Discipline = "blocking" -> {"IsDoneUnderLock"}
       [] Discipline = "exclusive" -> {"IsDoneUnderLock", "ForceIsDone"}
       [] OTHER -> {})

\* The steps of a trigger at which it does not hold the lock.
Outside ==
    {"MakeTrue", "IsDone", "Done"} \cup
    (CASE Waits -> {"Lock"}
       [] Discipline = "try_lock_once" -> {"TryLock"}
       [] OTHER -> {"TryLock", "SetPending", "ReadPending", "IsDoneAgain"})

StepsOfTimers ==
    {"ForceComplete", "OnComplete", "OnExpiration", "Done"} \cup
    (IF Discipline = "exclusive" THEN {"ForceIsDone", "ForceLock", "Unlock"} ELSE {})

\* A trigger is never in the middle of what a time-out or a stranger does, and the other way round.
EachThreadIsAtAStepOfItsOwn ==
    \A t \in Threads :
        /\ t \in Triggers => pc[t] \in Outside \cup Inside \cup Releasing
        /\ pc[t] = "UnlockAndRaise" => t \in Raising
        /\ t \in Holders => pc[t] \in {"Hold", "LetGo", "Done"}
        /\ t \in Timers => pc[t] \in StepsOfTimers

-----------------------------------------------------------------------------
(* The lock *)

\* No two threads hold the operation's lock.
TheLockHasOneHolder == \A t, u \in Threads : lock = t /\ lock = u => t = u

\* A thread holds the lock exactly from the step that takes it to the one that releases it.
TheLockIsHeldInside ==
    \A t \in Threads : lock = t <=>
        \/ t \in Triggers /\ pc[t] \in Inside \cup Releasing
        \/ t \in Holders /\ pc[t] = "LetGo"
        \/ /\ Discipline = "exclusive"
           /\ t \in Timers
           /\ pc[t] \in {"ForceComplete", "OnComplete", "Unlock"}

-----------------------------------------------------------------------------
(* Completion *)

\* One thread at most has won the compare-and-set of the state.
OneThreadCompletes == \A t, u \in Threads : ender = t /\ ender = u => t = u

\* The operation is completed exactly if some thread has won it.
DoneMeansCompletedByAThread == Done <=> \E t \in Threads : ender = t

\* Only the thread that won is in on_complete or in on_expiration.
WhoeverAnswersCompletedIt ==
    \A t \in Threads : pc[t] \in {"OnComplete", "OnExpiration"} => ender = t

\* The timer's threads alone call on_expiration.
TriggersTellNoExpiry == \A t \in Threads : pc[t] = "OnExpiration" => t \in Timers

Answering == \E t \in Threads : pc[t] = "OnComplete"

\* If the operation is completed and nobody is about to run on_complete, it has run once, else never.
AnsweredUnlessThatIsUnderWay == answers = IF Done /\ ~Answering THEN 1 ELSE 0

\* A time-out that won has run on_expiration once if its thread has ended, else not yet.
ExpiryIsToldLast ==
    \A t \in Timers : ender = t =>
        /\ pc[t] \in {"OnComplete", "Unlock", "OnExpiration", "Done"}
        /\ expirations = IF pc[t] = "Done" THEN 1 ELSE 0

\* Nobody is told of an expiry unless a time-out won.
NoOtherExpiry == (\E t \in Timers : ender = t) \/ expirations = 0

-----------------------------------------------------------------------------
(* No event is unseen *)

\* If no test has seen a trigger's event yet, that trigger is itself on its way to test the
\* predicate, or the operation is completed.
OwedIsLookedAt ==
    \A t \in owed :
        /\ t \in Triggers
        /\ Done \/ pc[t] \in {"IsDone", "Lock", "IsDoneUnderLock", "TryComplete"}

\* A trigger will test the predicate, or will look at the flag and find it set.
WillLook(t) ==
    \/ pc[t] \in {"IsDone", "TryLock", "ClearPending", "TryComplete"}
    \/ pc[t] = "ForceComplete" /\ t \in Triggers
    \/ pc[t] = "IsDoneAgain" /\ retry[t]
    \/ pc[t] \in {"Unlock", "ReadPending"} /\ pending
    \/ pc[t] = "SetPending" /\ ~pending

SomebodyLooks == Done \/ \E t \in Threads : WillLook(t)

\* If the flag is set, some trigger will test the predicate or look at the flag, or the operation
\* is completed.
PendingIsWatched == pending => SomebodyLooks

\* If no test has seen some event yet, some trigger will test the predicate, or look at a flag that
\* is set, or the operation is completed.
OwedIsWatched == \A t \in owed : t \in Triggers /\ SomebodyLooks

-----------------------------------------------------------------------------
(* What follows *)

\* If the operation is completed and nobody is about to run on_complete, it has run.
CompletedIsAnsweredAtRest == Done /\ ~Answering => answers = 1

\* When every trigger has returned, a test that began after it has seen each event, or the
\* operation is completed.
NoEventIsUnseenAtRest ==
    (\A t \in Triggers : pc[t] \in {"MakeTrue", "Done"}) /\ ~Done => owed = {}
=============================================================================
