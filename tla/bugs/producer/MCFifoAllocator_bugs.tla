------------------------ MODULE MCFifoAllocator_bugs -------------------------
(* What replaces an operator of FifoAllocator; the manifest names it and the property that must
   break. *)
EXTENDS MCFifoAllocator

\* Kafka's own: a newcomer does not look at the queue (3.2).
LendThoughSomebodyWaits(t, n) ==
    /\ MayAsk(t)
    /\ Lend(t, n)
    /\ UNCHANGED <<queue, closed>>

EnqueueAtTheHead(t, n) ==
    /\ MayAsk(t)
    /\ queue # <<>> \/ n > available
    /\ queue' = <<[thread |-> t, size |-> n]>> \o queue
    /\ UNCHANGED <<available, held, closed>>

AskAgain(t) == ~closed /\ held[t] = 0

AskForMore(t) == ~closed /\ ~Waiting(t)

LendWhatIsNotThere(t, n) ==
    /\ available' = available - n
    /\ held' = [held EXCEPT ![t] = n]

LendForNothing(t, n) ==
    /\ n <= available
    /\ held' = [held EXCEPT ![t] = n]
    /\ UNCHANGED available

LendToTheFirstThoughClosed ==
    /\ queue # <<>>
    /\ Lend(Head(queue).thread, Head(queue).size)
    /\ queue' = Tail(queue)
    /\ UNCHANGED closed
EnqueueThoughThereIsEnough(t, n) ==
    /\ MayAsk(t)
    /\ queue' = Append(queue, [thread |-> t, size |-> n])
    /\ UNCHANGED <<available, held, closed>>
=============================================================================
