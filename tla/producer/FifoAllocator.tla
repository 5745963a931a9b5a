---------------------------- MODULE FifoAllocator ----------------------------
(***************************************************************************)
(* What a pool of memory promises: bytes are lent to whoever has waited    *)
(* longest, once there are enough of them, and none is ever lost.          *)
(*                                                                         *)
(* Source.       standard 3: 3.1, 3.4, 3.8, 3.9, 3.10.                     *)
(* Kafka.        BufferPool: allocate, deallocate, close.                  *)
(* Abstraction.  No lock, no conditions, no buffers.  What a waiting thread *)
(*               has got together so far counts as available: nobody but   *)
(*               that thread can have it.  Time-outs and interruptions are *)
(*               a thread's leaving the queue at any moment.               *)
(* Atomicity.    Asking, being served, leaving, giving back and closing    *)
(*               are one step each.                                        *)
(*                                                                         *)
(* BufferPool refines this module, in its corrected design.                *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences

CONSTANTS
    Threads,    \* whoever asks for memory
    Total,      \* how many bytes there are
    Sizes       \* thread -> the sizes in bytes that it may ask for; none of them is 0

ASSUME Total \in Nat
ASSUME \A t \in Threads : Sizes[t] \subseteq 1..Total

VARIABLES
    available,  \* how many bytes are not lent
    queue,      \* who waits for how many bytes, in the order of asking
    held,       \* thread -> how many bytes it has on loan
    closed      \* whether the pool lends no more

vars == <<available, queue, held, closed>>

Request == [thread : Threads, size : 1..Total]

Elements(sequence) == {sequence[i] : i \in DOMAIN sequence}

Waiting(t) == \E request \in Elements(queue) : request.thread = t

MayAsk(t) == ~closed /\ ~Waiting(t) /\ held[t] = 0

-----------------------------------------------------------------------------

Init ==
    /\ available = Total
    /\ queue = <<>>
    /\ held = [t \in Threads |-> 0]
    /\ closed = FALSE

Lend(t, n) ==
    /\ n <= available
    /\ available' = available - n
    /\ held' = [held EXCEPT ![t] = n]

\* Only while nobody waits.
LendAtOnce(t, n) ==
    /\ MayAsk(t)
    /\ queue = <<>>
    /\ Lend(t, n)
    /\ UNCHANGED <<queue, closed>>

Enqueue(t, n) ==
    /\ MayAsk(t)
    /\ queue # <<>> \/ n > available
    /\ queue' = Append(queue, [thread |-> t, size |-> n])
    /\ UNCHANGED <<available, held, closed>>

LendToTheFirst ==
    /\ queue # <<>>
    /\ ~closed
    /\ Lend(Head(queue).thread, Head(queue).size)
    /\ queue' = Tail(queue)
    /\ UNCHANGED closed

\* Out of time, interrupted, or the pool was closed.
Leave(t) ==
    /\ Waiting(t)
    /\ queue' = SelectSeq(queue, LAMBDA request : request.thread # t)
    /\ UNCHANGED <<available, held, closed>>

GiveBack(t) ==
    /\ held[t] > 0
    /\ available' = available + held[t]
    /\ held' = [held EXCEPT ![t] = 0]
    /\ UNCHANGED <<queue, closed>>

Close ==
    /\ ~closed
    /\ closed' = TRUE
    /\ UNCHANGED <<available, queue, held>>

Next ==
    \/ \E t \in Threads : \E n \in Sizes[t] : LendAtOnce(t, n)
    \/ \E t \in Threads : \E n \in Sizes[t] : Enqueue(t, n)
    \/ LendToTheFirst
    \/ \E t \in Threads : Leave(t)
    \/ \E t \in Threads : GiveBack(t)
    \/ Close

\* Whoever has memory gives it back, the first in the queue is served as soon as there is enough,
\* and nobody waits for a closed pool.
Fairness ==
    /\ WF_vars(LendToTheFirst)
    /\ \A t \in Threads : WF_vars(GiveBack(t))
    /\ \A t \in Threads : WF_vars(closed /\ Leave(t))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Invariants *)

TypeOK ==
    /\ available \in 0..Total
    /\ queue \in Seq(Request)
    /\ held \in [Threads -> 0..Total]
    /\ closed \in BOOLEAN

RECURSIVE SumOf(_, _)
SumOf(amounts, threads) ==
    IF threads = {}
    THEN 0
    ELSE LET t == CHOOSE one \in threads : TRUE
         IN  amounts[t] + SumOf(amounts, threads \ {t})

NoByteIsLostOrMade == available + SumOf(held, Threads) = Total

NobodyWaitsTwice ==
    \A i, j \in DOMAIN queue : queue[i].thread = queue[j].thread => i = j

WhoeverWaitsHoldsNothing == \A t \in Threads : Waiting(t) => held[t] = 0

(* Action properties *)

\* There is too little, or somebody was there before.
WhoeverQueuesHasToWait ==
    [][Len(queue') > Len(queue) => queue # <<>> \/ Head(queue').size > available]_vars

\* Rule 3.10.
MemoryGoesToTheLongestWaiting ==
    [][\A t \in Threads :
        held[t] = 0 /\ held'[t] > 0 => queue = <<>> \/ Head(queue).thread = t]_vars

NothingIsLentAfterClose ==
    [][\A t \in Threads : closed /\ held[t] = 0 => held'[t] = 0]_vars

\* Whoever waits stays ahead of all that come later.
NobodyOvertakes ==
    [][\A i, j \in DOMAIN queue' :
        i < j => \A l \in DOMAIN queue :
            queue[l] = queue'[j] => \E k \in 1..(l - 1) : queue[k] = queue'[i]]_vars

(* Liveness *)

EveryWaiterIsServedOrLeaves == \A t \in Threads : Waiting(t) ~> ~Waiting(t)
=============================================================================
