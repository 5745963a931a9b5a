----------------------------- MODULE BufferPool -----------------------------
(***************************************************************************)
(* The producer's pool of buffers: a lock, a queue of waiting threads with *)
(* a condition each, and memory that is given away bit by bit.             *)
(*                                                                         *)
(* Source.       standard 3, 6.6.2, 6.6.3; KAFKA-3651, KAFKA-4840.         *)
(* Kafka.        BufferPool: allocate, deallocate, freeUp,                 *)
(*               safeAllocateByteBuffer, close; waiters,                   *)
(*               nonPooledAvailableMemory.                                 *)
(* Abstraction.  Buffers of the poolable size are told apart by nothing:   *)
(*               `free` is how many there are.  A client asks for memory,  *)
(*               gives it back, and asks for the next.  Zero bytes, which  *)
(*               can always be had, and sizes above the total, which are   *)
(*               refused before anything else, do not occur.               *)
(* Atomicity.    One step for each acquisition and release of the lock,    *)
(*               each notification, each wait (two: falling asleep, which  *)
(*               releases the lock, and waking up) and each reading of the *)
(*               clock that decides something.  The fields are guarded by  *)
(*               the lock, so they change together with the step before.   *)
(* Fairness.     Strong, for each client: the lock is not fair, yet nobody *)
(*               is passed over for ever.  Nobody is obliged to interrupt  *)
(*               or to close, and no wait ends for no reason.              *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences

CONSTANTS
    Clients,        \* threads that allocate and deallocate
    Program,        \* client -> the sizes in bytes that it asks for, one after another
    Restless,       \* the clients that begin again when they have come to the end
    Limit,          \* client -> how long it waits at most, in milliseconds
    Unlucky,        \* the clients for which the allocation of the memory itself may fail
    Closers,        \* threads that close the pool
    Interrupters,   \* threads that interrupt a client
    Victim,         \* interrupter -> that client
    SpuriousWakeUps, \* whether a wait may end for no reason
    Total,          \* the memory, in bytes
    Poolable,       \* the size of the buffers that are kept, in bytes
    None            \* nobody

Range(sequence) == {sequence[i] : i \in DOMAIN sequence}

ASSUME Total \in Nat /\ SpuriousWakeUps \in BOOLEAN
ASSUME Program \in [Clients -> Seq(1..Total) \ {<<>>}]
ASSUME Restless \subseteq Clients /\ Unlucky \subseteq Clients
ASSUME Limit \in [Clients -> Nat]
ASSUME Victim \in [Interrupters -> Clients]
ASSUME Poolable \in Nat \ {0}
ASSUME Clients \cap Closers = {} /\ Clients \cap Interrupters = {} /\ Closers \cap Interrupters = {}

VARIABLES
    now,            \* what the clock shows, in milliseconds
    lock,           \* the thread that holds the lock
    closed,         \* whether the pool lends no more
    nonPooled,      \* bytes that are neither lent nor bound in buffers
    free,           \* how many buffers of the poolable size wait for reuse
    waiters,        \* the clients that wait for memory, by their arrival
    asleep,         \* the clients in the queue of their condition, whom nobody has notified yet
    accumulated,    \* client -> the bytes that it has got together while it waits
    held,           \* client -> the bytes that it has on loan, or has reserved
    pc,             \* thread -> its next step
    then,           \* thread -> its step after the release of the lock
    deadline,       \* client -> when its wait ends, in milliseconds
    round,          \* client -> which size of its program it is at
    called,         \* closer -> how many waiters it has notified
    interrupted,    \* the clients that have been interrupted and have not noticed yet
    thrown,         \* the clients whose wait was ended by an interruption
    asked           \* history: client -> when it began its allocation, in milliseconds

fields == <<closed, nonPooled, free, waiters, accumulated>>
interruption == <<interrupted, thrown>>
registers == <<deadline, round, called, asked>>
vars == <<now, lock, fields, asleep, held, pc, then, registers, interruption>>

Threads == Clients \cup Closers \cup Interrupters

Go(t, step) == pc' = [pc EXCEPT ![t] = step]

\* The lock is held from here to Unlock.
Acquire(t) ==
    /\ lock = None
    /\ lock' = t

Size(t) == Program[t][round[t]]

\* When time goes on; a model sets an end to it.
Later(time) == {time + 1}

-----------------------------------------------------------------------------

Init ==
    /\ now = 0
    /\ lock = None
    /\ closed = FALSE
    /\ nonPooled = Total
    /\ free = 0
    /\ waiters = <<>>
    /\ asleep = {}
    /\ accumulated = [t \in Clients |-> 0]
    /\ held = [t \in Clients |-> 0]
    /\ pc = [t \in Threads |->
            CASE t \in Clients -> "ReadClock"
              [] t \in Closers -> "CloseLock"
              [] t \in Interrupters -> "Interrupt"]
    /\ then = [t \in Clients \cup Closers |-> "End"]
    /\ deadline = [t \in Clients |-> 0]
    /\ round = [t \in Clients |-> 1]
    /\ called = [c \in Closers |-> 0]
    /\ interrupted = {}
    /\ thrown = {}
    /\ asked = [t \in Clients |-> 0]

Tick ==
    /\ now' \in Later(now)
    /\ UNCHANGED <<lock, fields, asleep, held, pc, then, registers, interruption>>

-----------------------------------------------------------------------------
(* The arithmetic of the pool *)

Min(a, b) == IF a < b THEN a ELSE b

InFreeList == free * Poolable

\* The fewest buffers whose memory, with what is not pooled, is enough; all of them if not even
\* that is (3.2).
BuffersToDrop(wanted) ==
    IF wanted <= nonPooled
    THEN 0
    ELSE Min((wanted - nonPooled + Poolable - 1) \div Poolable, free)

HasEnough(n) == nonPooled + InFreeList >= n

-----------------------------------------------------------------------------
(* Signals (3.4) *)

\* What comes before the release of the lock: a signal to whoever is first then.
SignalFirst(t) == Go(t, IF waiters' # <<>> THEN "Signal" ELSE "Unlock")

SignalNext(t) ==
    Go(t, IF waiters' # <<>> /\ nonPooled' + free' > 0 THEN "Signal" ELSE "Unlock")

\* Without effect on a client that is awake already.
Signal(t) ==
    /\ pc[t] = "Signal"
    /\ asleep' = asleep \ {Head(waiters)}
    /\ Go(t, "Unlock")
    /\ UNCHANGED <<now, lock, fields, held, then, registers, interruption>>

-----------------------------------------------------------------------------
(* The end of every call *)

\* The client goes on to its next size.
Continue(t) ==
    LET last == round[t] = Len(Program[t]) IN
    /\ Go(t, IF last /\ t \notin Restless THEN "Done" ELSE "ReadClock")
    /\ round' = [round EXCEPT ![t] = IF ~last THEN @ + 1 ELSE IF t \in Restless THEN 1 ELSE @]

Unlock(t) ==
    /\ pc[t] = "Unlock"
    /\ lock' = None
    /\ IF then[t] # "End"
       THEN /\ Go(t, then[t])
            /\ UNCHANGED round
       ELSE IF t \in Clients
       THEN Continue(t)
       ELSE /\ Go(t, "Done")
            /\ UNCHANGED round
    /\ then' = [then EXCEPT ![t] = "End"]
    /\ UNCHANGED <<now, fields, asleep, held, deadline, called, asked, interruption>>

-----------------------------------------------------------------------------
(* allocate (3.2 - 3.5) *)

ReadClock(t) ==
    /\ pc[t] = "ReadClock"
    /\ deadline' = [deadline EXCEPT ![t] = now + Limit[t]]
    /\ asked' = [asked EXCEPT ![t] = now]
    /\ Go(t, "Lock")
    /\ UNCHANGED <<now, lock, fields, asleep, held, then, round, called, interruption>>

\* Only while nobody waits (3.10).
MayTakeAtOnce(n) == waiters = <<>> /\ HasEnough(n)

\* A buffer from the free list, or a reservation for which memory has to be allocated.
TakeAtOnce(t) ==
    LET n == Size(t)
        dropped == BuffersToDrop(n)
    IN
    /\ held' = [held EXCEPT ![t] = n]
    /\ IF n = Poolable /\ free > 0
       THEN /\ free' = free - 1
            /\ then' = [then EXCEPT ![t] = "Deallocate"]
            /\ UNCHANGED nonPooled
       ELSE /\ free' = free - dropped
            /\ nonPooled' = nonPooled + dropped * Poolable - n
            /\ then' = [then EXCEPT ![t] = "Make"]

Lock(t) ==
    /\ pc[t] = "Lock"
    /\ Acquire(t)
    /\ IF closed
       THEN /\ Go(t, "Unlock")
            /\ UNCHANGED <<fields, held, then>>
       ELSE IF MayTakeAtOnce(Size(t))
       THEN /\ TakeAtOnce(t)
            /\ UNCHANGED <<closed, waiters, accumulated>>
            /\ SignalNext(t)
       ELSE /\ waiters' = Append(waiters, t)
            /\ Go(t, "Await")
            /\ UNCHANGED <<closed, nonPooled, free, accumulated, held, then>>
    /\ UNCHANGED <<now, asleep, registers, interruption>>

\* Releases the lock.
Await(t) ==
    /\ pc[t] = "Await"
    /\ t \notin interrupted
    /\ lock' = None
    /\ asleep' = asleep \cup {t}
    /\ Go(t, "Asleep")
    /\ UNCHANGED <<now, fields, held, then, registers, interruption>>

\* An interruption that came before the wait ends it at once; the lock is not released.
AwaitInterrupted(t) ==
    /\ pc[t] = "Await"
    /\ t \in interrupted
    /\ interrupted' = interrupted \ {t}
    /\ thrown' = thrown \cup {t}
    /\ Go(t, "EndWait")
    /\ UNCHANGED <<now, lock, fields, asleep, held, then, registers>>

Wake(t) ==
    /\ pc[t] = "Asleep"
    /\ t \notin asleep
    /\ Go(t, "Relock")
    /\ UNCHANGED <<now, lock, fields, asleep, held, then, registers, interruption>>

WakeUnnotified(t) ==
    /\ pc[t] = "Asleep"
    /\ t \in asleep
    /\ asleep' = asleep \ {t}
    /\ Go(t, "Relock")
    /\ UNCHANGED <<now, lock, fields, held, then, registers>>

\* An interruption that came first wins.
TimeOut(t) ==
    /\ now >= deadline[t]
    /\ t \notin interrupted
    /\ WakeUnnotified(t)
    /\ UNCHANGED interruption

WakeSpuriously(t) ==
    /\ SpuriousWakeUps
    /\ now < deadline[t]
    /\ t \notin interrupted
    /\ WakeUnnotified(t)
    /\ UNCHANGED interruption

\* Only before the signal (3.5).
WakeInterrupted(t) ==
    /\ t \in interrupted
    /\ WakeUnnotified(t)
    /\ interrupted' = interrupted \ {t}
    /\ thrown' = thrown \cup {t}

Relock(t) ==
    /\ pc[t] = "Relock"
    /\ Acquire(t)
    /\ Go(t, "EndWait")
    /\ UNCHANGED <<now, fields, asleep, held, then, registers, interruption>>

Without(t) == SelectSeq(waiters, LAMBDA one : one # t)

\* Leaves the queue without memory, and gives back the part that it has got together (3.4).
LeaveWithout(t, buffers, unpooled, part) ==
    /\ free' = buffers
    /\ nonPooled' = unpooled + part
    /\ accumulated' = [accumulated EXCEPT ![t] = 0]
    /\ waiters' = Without(t)
    /\ UNCHANGED <<closed, held, then>>
    /\ SignalNext(t)

GiveUp(t) == LeaveWithout(t, free, nonPooled, accumulated[t])

\* Leaves the queue with all that it has asked for.
LeaveWith(t, buffers, unpooled, step) ==
    /\ free' = buffers
    /\ nonPooled' = unpooled
    /\ accumulated' = [accumulated EXCEPT ![t] = 0]
    /\ held' = [held EXCEPT ![t] = Size(t)]
    /\ waiters' = Without(t)
    /\ then' = [then EXCEPT ![t] = step]
    /\ UNCHANGED closed
    /\ SignalNext(t)

WaitAgain(t) ==
    /\ Go(t, "Await")
    /\ UNCHANGED <<held, then>>

\* Memory goes to the first alone (3.10).
IsNext(t) == Head(waiters) = t

\* Rule 3.3.
TakeWhatThereIs(t) ==
    LET n == Size(t)
        wanted == n - accumulated[t]
        dropped == BuffersToDrop(wanted)
        there == nonPooled + dropped * Poolable
        taken == Min(wanted, there)
    IN
    IF accumulated[t] = 0 /\ n = Poolable /\ free > 0
    THEN LeaveWith(t, free - 1, nonPooled, "Deallocate")
    ELSE IF taken = wanted
    THEN LeaveWith(t, free - dropped, there - taken, "Make")
    ELSE IF now >= deadline[t]
    THEN LeaveWithout(t, free - dropped, there - taken, accumulated[t] + taken)
    ELSE /\ free' = free - dropped
         /\ nonPooled' = there - taken
         /\ accumulated' = [accumulated EXCEPT ![t] = @ + taken]
         /\ UNCHANGED <<closed, waiters>>
         /\ WaitAgain(t)

\* The clock is read here, and decides.
EndWait(t) ==
    /\ pc[t] = "EndWait"
    /\ IF t \in thrown \/ closed
       THEN GiveUp(t)
       ELSE IF IsNext(t)
       THEN TakeWhatThereIs(t)
       ELSE IF now >= deadline[t]
       THEN GiveUp(t)
       ELSE /\ WaitAgain(t)
            /\ UNCHANGED fields
    /\ thrown' = thrown \ {t}
    /\ UNCHANGED <<now, lock, asleep, registers, interrupted>>

\* The memory itself is allocated without the lock.
Make(t) ==
    /\ pc[t] = "Make"
    /\ Go(t, "Deallocate")
    /\ UNCHANGED <<now, lock, fields, asleep, held, then, registers, interruption>>

MakeFails(t) ==
    /\ pc[t] = "Make"
    /\ t \in Unlucky
    /\ Go(t, "Refund")
    /\ UNCHANGED <<now, lock, fields, asleep, held, then, registers, interruption>>

\* Rule 3.6.
Refund(t) ==
    /\ pc[t] = "Refund"
    /\ Acquire(t)
    /\ nonPooled' = nonPooled + held[t]
    /\ held' = [held EXCEPT ![t] = 0]
    /\ UNCHANGED <<closed, free, waiters, accumulated>>
    /\ SignalFirst(t)
    /\ UNCHANGED <<now, asleep, then, registers, interruption>>

-----------------------------------------------------------------------------
(* deallocate (3.7) *)

Deallocate(t) ==
    /\ pc[t] = "Deallocate"
    /\ Acquire(t)
    /\ IF held[t] = Poolable
       THEN /\ free' = free + 1
            /\ UNCHANGED nonPooled
       ELSE /\ nonPooled' = nonPooled + held[t]
            /\ UNCHANGED free
    /\ held' = [held EXCEPT ![t] = 0]
    /\ UNCHANGED <<closed, waiters, accumulated>>
    /\ SignalFirst(t)
    /\ UNCHANGED <<now, asleep, then, registers, interruption>>

-----------------------------------------------------------------------------
(* close (3.8), and interruptions from outside *)

CloseLock(c) ==
    /\ pc[c] = "CloseLock"
    /\ Acquire(c)
    /\ closed' = TRUE
    /\ Go(c, IF waiters # <<>> THEN "CloseSignal" ELSE "Unlock")
    /\ UNCHANGED <<now, nonPooled, free, waiters, accumulated, asleep, held, then, registers,
                   interruption>>

CloseSignal(c) ==
    /\ pc[c] = "CloseSignal"
    /\ asleep' = asleep \ {waiters[called[c] + 1]}
    /\ called' = [called EXCEPT ![c] = @ + 1]
    /\ Go(c, IF called[c] + 1 < Len(waiters) THEN "CloseSignal" ELSE "Unlock")
    /\ UNCHANGED <<now, lock, fields, held, then, deadline, round, asked, interruption>>

Interrupt(i) ==
    /\ pc[i] = "Interrupt"
    /\ interrupted' = interrupted \cup {Victim[i]}
    /\ Go(i, "Done")
    /\ UNCHANGED <<now, lock, fields, asleep, held, then, registers, thrown>>

-----------------------------------------------------------------------------

\* What a client does of its own accord.
Client(t) ==
    \/ ReadClock(t) \/ Lock(t) \/ Await(t) \/ AwaitInterrupted(t)
    \/ Wake(t) \/ TimeOut(t) \/ WakeInterrupted(t) \/ Relock(t) \/ EndWait(t)
    \/ Make(t) \/ MakeFails(t) \/ Refund(t) \/ Deallocate(t) \/ Signal(t) \/ Unlock(t)

\* What a closer does once it has begun.
CloseStep(c) == CloseSignal(c) \/ Unlock(c)

\* All have ended: the only state without a step.
Terminated ==
    /\ \A t \in Threads : pc[t] = "Done"
    /\ UNCHANGED vars

Next ==
    \/ \E t \in Clients : Client(t)
    \/ \E t \in Clients : WakeSpuriously(t)
    \/ \E c \in Closers : CloseLock(c)
    \/ \E c \in Closers : CloseStep(c)
    \/ \E i \in Interrupters : Interrupt(i)
    \/ Tick
    \/ Terminated

Fairness ==
    /\ WF_vars(Tick)
    /\ \A t \in Clients : SF_vars(Client(t))
    /\ \A c \in Closers : WF_vars(CloseStep(c))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Invariants *)

\* The steps of a client in the queue, and the steps at which the lock is held.
WaitSteps == {"Await", "Asleep", "Relock", "EndWait"}
LockedSteps == {"Await", "EndWait", "Signal", "CloseSignal", "Unlock"}

Steps ==
    WaitSteps \cup LockedSteps \cup
    {"ReadClock", "Lock", "Make", "Refund", "Deallocate", "CloseLock", "Interrupt", "Done"}

TypeOK ==
    /\ now \in Nat
    /\ lock \in Clients \cup Closers \cup {None}
    /\ closed \in BOOLEAN
    /\ nonPooled \in 0..Total
    /\ free \in 0..Total
    /\ waiters \in Seq(Clients)
    /\ asleep \subseteq Clients
    /\ accumulated \in [Clients -> 0..Total]
    /\ held \in [Clients -> 0..Total]
    /\ pc \in [Threads -> Steps]
    /\ then \in [Clients \cup Closers -> {"End", "Make", "Deallocate"}]
    /\ deadline \in [Clients -> Nat]
    /\ round \in [Clients -> Nat \ {0}]
    /\ called \in [Closers -> Nat]
    /\ interrupted \subseteq Clients
    /\ thrown \subseteq Clients
    /\ asked \in [Clients -> Nat]

\* No two threads are at steps for which the lock is held.
MutualExclusion == \A t \in Threads : pc[t] \in LockedSteps => lock = t

RECURSIVE SumOver(_, _)
SumOver(amounts, threads) ==
    IF threads = {}
    THEN 0
    ELSE LET t == CHOOSE one \in threads : TRUE
         IN  amounts[t] + SumOver(amounts, threads \ {t})

\* Rule 3.9: the memory is all there, wherever it is.
NoByteIsLostOrMade ==
    lock = None =>
        nonPooled + InFreeList + SumOver(held, Clients) + SumOver(accumulated, Clients) = Total

\* Rule 3.9: whoever could be served now has a signal that it has not acted on.
NoWakeUpIsLost ==
    \A t \in Clients :
        lock = None /\ waiters # <<>> /\ Head(waiters) = t /\ HasEnough(Size(t) - accumulated[t])
            => t \notin asleep

\* A client is in the queue exactly while it waits, and once (KAFKA-3651).
WaitersAreLiveThreads ==
    /\ \A t \in Range(waiters) : pc[t] \in WaitSteps
    /\ \A t \in Clients : pc[t] \in WaitSteps => t \in Range(waiters)
    /\ \A i, j \in DOMAIN waiters : waiters[i] = waiters[j] => i = j

\* The first in the queue alone has got a part of its memory together.
OnlyTheFirstAccumulates ==
    \A t \in Clients : accumulated[t] > 0 => waiters # <<>> /\ Head(waiters) = t

\* Outside the lock a client has memory exactly while it uses or returns it.
MemoryIsHeldByWhoeverUsesIt ==
    \A t \in Clients :
        pc[t] \in {"Make", "Refund", "Deallocate"} <=> held[t] > 0 /\ lock # t

\* Rule 3.8: while nobody holds the lock of a closed pool, nobody sleeps in it.
ClosedPoolLetsNobodySleep == closed /\ lock = None => asleep = {}

\* Nobody's deadline is later than its limit allows.
TotalWaitIsBounded ==
    \A t \in Clients : pc[t] \in WaitSteps => deadline[t] <= asked[t] + Limit[t]

\* What a call needs is gone when it ends.
CallsLeaveNothingBehind ==
    \A t \in Clients :
        /\ t \in thrown => pc[t] \in {"Relock", "EndWait"}
        /\ then[t] # "End" => pc[t] \in {"Signal", "Unlock"}
        /\ accumulated[t] > 0 => pc[t] \in WaitSteps

\* Whatever has failed, in the end all memory is where it was (6.9.1).
NothingIsKeptInTheEnd ==
    lock = None /\ (\A t \in Clients : pc[t] = "Done") =>
        nonPooled + InFreeList = Total /\ waiters = <<>> /\ asleep = {}

(* Action properties *)

\* Rule 6.6.2: a reservation that came to nothing is undone before the call raises.
AFailedAllocationGivesBack ==
    [][\A t \in Clients : pc[t] = "Refund" /\ pc'[t] # "Refund" =>
        nonPooled' = nonPooled + held[t] /\ held'[t] = 0]_vars

\* Rule 6.6.2: after it the client that has waited longest is woken next.
TheFirstIsToldOfARefund ==
    [][\A t \in Clients :
        pc[t] = "Refund" /\ pc'[t] # "Refund" /\ waiters # <<>> => pc'[t] = "Signal"]_vars

\* Rule 3.7.2: what comes back is kept if it is a poolable buffer, and the first in the queue is told.
AReturnIsKeptAndTold ==
    [][\A t \in Clients : pc[t] = "Deallocate" /\ held'[t] = 0 =>
        /\ IF Size(t) = Poolable THEN free' = free + 1 ELSE nonPooled' = nonPooled + Size(t)
        /\ waiters # <<>> => pc'[t] = "Signal"]_vars

\* Rule 3.5.1: whoever finds too little gives the lock up before it fails, though it has no time.
WhoeverFindsTooLittleGivesTheLockUp ==
    [][\A t \in Clients :
        /\ pc[t] = "Lock" /\ lock' = t /\ held'[t] = 0 /\ ~closed => pc'[t] = "Await"
        /\ pc[t] = "Await" /\ pc'[t] # "Await" /\ t \notin interrupted => lock' = None]_vars

\* Rule 3.10: whoever gets memory is the first in the queue, or the queue is empty.
MemoryGoesToTheLongestWaiting ==
    [][\A t \in Clients :
        held[t] = 0 /\ held'[t] > 0 => waiters = <<>> \/ Head(waiters) = t]_vars

\* Rule 3.2: whoever breaks up buffers leaves less beside them than one buffer more.
BuffersAreBrokenUpOnlyAsNeeded ==
    [][\A t \in Clients :
        held'[t] > held[t] \/ accumulated'[t] > accumulated[t] =>
            \/ free' >= free
            \/ nonPooled' < Poolable
            \/ held'[t] = Poolable /\ free' = free - 1 /\ nonPooled' = nonPooled]_vars

\* Whoever waits again has time left.
NobodyWaitsAgainAfterTheLimit ==
    [][\A t \in Clients :
        pc[t] = "EndWait" /\ pc'[t] = "Await" => now < asked[t] + Limit[t]]_vars

\* Nobody gets memory from a closed pool.
NothingIsLentAfterClose ==
    [][\A t \in Clients : closed /\ held[t] = 0 => held'[t] = 0]_vars

\* Rules 3.3, 3.5, 3.8: without its memory a client leaves for one of three reasons.
NobodyLeavesWithoutAReason ==
    [][\A t \in Clients :
        t \in Range(waiters) \ Range(waiters') /\ held'[t] = 0 =>
            closed \/ t \in thrown \/ now >= asked[t] + Limit[t]]_vars

\* Whoever wakes was signalled, interrupted or late, if no wait ends for no reason.
NobodyWakesForNoReason ==
    [][\A t \in asleep \ asleep' :
        \/ SpuriousWakeUps
        \/ now >= deadline[t]
        \/ t \in interrupted
        \/ \E u \in Threads : pc[u] \in {"Signal", "CloseSignal"}]_vars

(* Liveness *)

EveryWaiterIsServedOrLeaves ==
    \A t \in Clients : t \in Range(waiters) ~> t \notin Range(waiters)

EveryWaitEnds == \A t \in Clients : pc[t] \in WaitSteps ~> pc[t] \notin WaitSteps

\* Rule 6.6.2: whoever could not have the memory has none, and its call ends.
EveryFailureEnds == \A t \in Clients : pc[t] = "Refund" ~> held[t] = 0

CloseReleasesEveryone == closed ~> [](waiters = <<>>)

-----------------------------------------------------------------------------
(* Refinement.  What a waiter has accumulated is available still: to itself alone. *)

Allocator == INSTANCE FifoAllocator WITH
    Threads <- Clients,
    Sizes <- [t \in Clients |-> Range(Program[t])],
    available <- nonPooled + InFreeList + SumOver(accumulated, Clients),
    queue <- [i \in DOMAIN waiters |-> [thread |-> waiters[i], size |-> Size(waiters[i])]]

RefinesFifoAllocator == Allocator!Spec

RefinesFifoAllocatorSafely == Allocator!Init /\ [][Allocator!Next]_(Allocator!vars)

THEOREM Spec => RefinesFifoAllocator
=============================================================================
