---------------------------- MODULE MCFifoAllocator ----------------------------
(* FifoAllocator with a few threads and sizes. *)
EXTENDS FifoAllocator

\* One thread always asks for everything.
MCSizes == [t \in Threads |-> IF t = "t1" THEN {Total} ELSE {1, 2}]

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

\* There is enough for the newcomer, but somebody waits.
WitnessQueuesBehindTheFirst ==
    ~(Len(queue) = 2 /\ queue[2].size <= available /\ queue[1].size > available)

\* Somebody leaves from the middle of the queue.
WitnessEveryoneWaits == Len(queue) < Cardinality(Threads) - 1

\* Memory is out while the pool is closed, and somebody has still to leave.
WitnessClosedUnderWaiters == ~(closed /\ queue # <<>> /\ available < Total)
=============================================================================
