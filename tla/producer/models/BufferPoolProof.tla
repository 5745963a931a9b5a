--------------------------- MODULE BufferPoolProof ---------------------------
(***************************************************************************)
(* The clauses of the inductive invariant of BufferPool, and what follows  *)
(* from them.  `python -m wheelproof_lab prove` derives the actions from   *)
(* the text of BufferPool, and reads the clauses here: together they hold  *)
(* at first, and each action keeps each of them, for any number of clients *)
(* and closers, any sizes and any limits.  TLC checks the same clauses.    *)
(***************************************************************************)
EXTENDS BufferPool

HoldingSteps == {"Make", "Refund", "Deallocate"}

StepsOfClients ==
    WaitSteps \cup HoldingSteps \cup {"ReadClock", "Lock", "Signal", "Unlock", "Done"}

StepsOfClosers == {"CloseLock", "CloseSignal", "Unlock", "Done"}

Stands(t) == \E i \in DOMAIN waiters : waiters[i] = t

StandsBefore(t, u) == \E i, j \in DOMAIN waiters : i < j /\ waiters[i] = t /\ waiters[j] = u

StandsFirst(t) == waiters # <<>> /\ Head(waiters) = t

\* A client is never in the middle of what close does, and the other way round.
EachThreadIsAtAStepOfItsOwn ==
    \A t \in Threads :
        /\ t \in Clients => pc[t] \in StepsOfClients
        /\ t \in Closers => pc[t] \in StepsOfClosers
        /\ t \in Interrupters => pc[t] \in {"Interrupt", "Done"}

\* No two threads hold the lock of the pool.
TheLockHasOneHolder == \A t, u \in Threads : lock = t /\ lock = u => t = u

\* A thread holds the lock exactly between the step that takes it and the one that releases it.
TheLockIsHeldInside == \A t \in Threads : pc[t] \in LockedSteps <=> lock = t

\* A client is in the queue exactly while it waits.
OnlyThoseWhoWaitAreInTheQueue ==
    \A t \in Threads : Stands(t) <=> pc[t] \in WaitSteps

\* No count of bytes or buffers is negative.
NothingIsNegative ==
    /\ nonPooled >= 0 /\ free >= 0
    /\ \A t \in Clients : held[t] >= 0 /\ accumulated[t] >= 0

\* A client is at a size of its program, and has got less together than it asks for.
SizesAreInBounds ==
    \A t \in Clients :
        round[t] >= 1 /\ round[t] <= Len(Program[t]) /\ accumulated[t] < Size(t)

\* All memory is not pooled, in a free buffer, with a client, or with a waiter.
EveryByteIsSomewhere ==
    nonPooled + InFreeList + SumOver(held, Clients) + SumOver(accumulated, Clients) = Total

\* The first in the queue alone has got a part of its memory together.
OnlyTheFirstHasAPart == \A t \in Clients : accumulated[t] > 0 => StandsFirst(t)

\* A client has memory exactly while it uses it, returns it, or is about to leave the pool with it.
WhoeverUsesMemoryHoldsIt ==
    \A t \in Clients : held[t] > 0 <=> pc[t] \in HoldingSteps \/ then[t] # "End"

\* Whoever has memory has as much as it has asked for.
NobodyHasMoreOrLess == \A t \in Clients : held[t] > 0 => held[t] = Size(t)

\* A client alone goes on after the release of the lock, and is about to release it.
OnlyAClientGoesOn ==
    \A t \in Clients \cup Closers :
        then[t] # "End" => t \in Clients /\ pc[t] \in {"Signal", "Unlock"}

\* Whoever has not been notified is asleep.
OnlyWhoeverWaitsSleeps == \A t \in Threads : t \in asleep => pc[t] = "Asleep"

\* An interruption that ended a wait is told when the lock is held again.
AnInterruptionEndsAWait == \A t \in Threads : t \in thrown => pc[t] \in {"Relock", "EndWait"}

\* If the first sleeps, or is about to, and there is enough for it, a thread is about to signal.
WhoeverCouldBeServedIsAboutToBeTold ==
    \A t \in Clients :
        StandsFirst(t) /\ HasEnough(Size(t) - accumulated[t]) /\ (t \in asleep \/ pc[t] = "Await")
            => \E u \in Threads : pc[u] = "Signal"

\* A closer has told nobody before it closes.
NobodyIsToldBeforeTheClose ==
    \A c \in Closers : called[c] >= 0 /\ (pc[c] = "CloseLock" => called[c] = 0)

\* If somebody sleeps in a closed pool, a closer has not come to it yet; nobody falls asleep there.
CloseIsAboutToTellWhoeverSleeps ==
    \A t \in Clients :
        closed /\ (t \in asleep \/ pc[t] = "Await") =>
            /\ t \in asleep
            /\ \E c \in Closers :
                /\ pc[c] = "CloseSignal"
                /\ \E i \in DOMAIN waiters : i > called[c] /\ waiters[i] = t

\* Whoever tells the waiters of the close has closed the pool before.
CloseBeganByClosing == \A t \in Threads : pc[t] = "CloseSignal" => closed

\* From the lock to the end of its wait a client has the deadline that it worked out at first.
TheDeadlineStays ==
    \A t \in Clients :
        pc[t] \in WaitSteps \cup {"Lock"} => deadline[t] = asked[t] + Limit[t]

-----------------------------------------------------------------------------
(* What follows *)

\* Of two that wait on, the first stays before the second.
NobodyOvertakes ==
    [][\A t, u \in Clients :
        StandsBefore(t, u) /\ Stands(t)' /\ Stands(u)' => StandsBefore(t, u)']_vars

\* Whoever asks for a poolable buffer gets one that is free, if there is one (3.2).
AFreeBufferIsReused ==
    [][\A t \in Clients :
        held[t] = 0 /\ held'[t] = Poolable /\ accumulated[t] = 0 /\ free > 0 =>
            free' = free - 1 /\ nonPooled' = nonPooled]_vars
=============================================================================
