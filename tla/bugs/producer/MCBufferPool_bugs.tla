-------------------------- MODULE MCBufferPool_bugs --------------------------
(* What replaces an operator of BufferPool to bring a mistake into it.  The manifest names the
   operator that it replaces and the property that must break. *)
EXTENDS MCBufferPool

\* Kafka's own: a newcomer does not look at the queue (3.2).
TakeThoughSomebodyWaits(n) == HasEnough(n)

\* Kafka's own: whoever wakes up takes memory, for whatever reason it woke up (3.3).
EverybodyIsNext(t) == TRUE

\* KAFKA-3651: whoever gives up stays in the queue.
StayInTheQueue(t, buffers, unpooled, part) ==
    /\ free' = buffers
    /\ nonPooled' = unpooled + part
    /\ accumulated' = [accumulated EXCEPT ![t] = 0]
    /\ UNCHANGED <<closed, waiters, held, then>>
    /\ SignalNext(t)

\* KAFKA-4840: what was accumulated is not given back.
LeaveWithPart(t, buffers, unpooled, part) ==
    /\ free' = buffers
    /\ nonPooled' = unpooled
    /\ accumulated' = [accumulated EXCEPT ![t] = 0]
    /\ waiters' = Without(t)
    /\ UNCHANGED <<closed, held, then>>
    /\ SignalNext(t)

\* KAFKA-4840: the signal is not handed on.
LeaveInSilence(t, buffers, unpooled, part) ==
    /\ free' = buffers
    /\ nonPooled' = unpooled + part
    /\ accumulated' = [accumulated EXCEPT ![t] = 0]
    /\ waiters' = Without(t)
    /\ UNCHANGED <<closed, held, then>>
    /\ Go(t, "Unlock")

\* KAFKA-4840: a reservation for which there is no memory is forgotten.
ForgetTheReservation(t) ==
    /\ pc[t] = "Make"
    /\ t \in Unlucky
    /\ Continue(t)
    /\ held' = [held EXCEPT ![t] = 0]
    /\ UNCHANGED <<now, lock, fields, asleep, then, deadline, called, asked, interruption>>

\* The same, and the client does not even know that it has the memory.
ForgetTheFailure(t) ==
    /\ pc[t] = "Make"
    /\ t \in Unlucky
    /\ Continue(t)
    /\ UNCHANGED <<now, lock, fields, asleep, held, then, deadline, called, asked, interruption>>

\* The reservation is undone, and nobody is told.
RefundInSilence(t) ==
    /\ pc[t] = "Refund"
    /\ Acquire(t)
    /\ nonPooled' = nonPooled + held[t]
    /\ held' = [held EXCEPT ![t] = 0]
    /\ Go(t, "Unlock")
    /\ UNCHANGED <<now, closed, free, waiters, accumulated, asleep, then, registers, interruption>>

\* What is undone is a byte less than what was reserved.
RefundABitLess(t) ==
    /\ pc[t] = "Refund"
    /\ Acquire(t)
    /\ nonPooled' = nonPooled + held[t] - 1
    /\ held' = [held EXCEPT ![t] = 0]
    /\ UNCHANGED <<closed, free, waiters, accumulated>>
    /\ SignalFirst(t)
    /\ UNCHANGED <<now, asleep, then, registers, interruption>>

\* A client that cannot have its memory keeps the reservation, and tries again.
MakeAgain(t) ==
    /\ pc[t] = "Refund"
    /\ Go(t, "Make")
    /\ UNCHANGED <<now, lock, fields, asleep, held, then, registers, interruption>>

\* The lock keeps nobody out.
AcquireAnyway(t) == lock' = t

\* Memory that comes back is announced to nobody.
SignalNobody(t) == Go(t, "Unlock")

\* Memory comes back into the free list and beside it.
ReturnTwice(t) ==
    /\ pc[t] = "Deallocate"
    /\ Acquire(t)
    /\ free' = free + 1
    /\ nonPooled' = nonPooled + held[t]
    /\ held' = [held EXCEPT ![t] = 0]
    /\ UNCHANGED <<closed, waiters, accumulated>>
    /\ SignalFirst(t)
    /\ UNCHANGED <<now, asleep, then, registers, interruption>>

\* No buffer is kept.
DropEveryBuffer(t) ==
    /\ pc[t] = "Deallocate"
    /\ Acquire(t)
    /\ nonPooled' = nonPooled + held[t]
    /\ held' = [held EXCEPT ![t] = 0]
    /\ UNCHANGED <<closed, free, waiters, accumulated>>
    /\ SignalFirst(t)
    /\ UNCHANGED <<now, asleep, then, registers, interruption>>

\* Whoever has no time fails while it has the lock.
AwaitNothing(t) ==
    /\ pc[t] = "Await"
    /\ IF Limit[t] = 0 THEN Go(t, "EndWait") ELSE Go(t, "Asleep")
    /\ lock' = IF Limit[t] = 0 THEN lock ELSE None
    /\ asleep' = IF Limit[t] = 0 THEN asleep ELSE asleep \cup {t}
    /\ UNCHANGED <<now, fields, held, then, registers, interruption>>

\* close() notifies the first waiter alone.
CloseForTheFirst(c) ==
    /\ pc[c] = "CloseSignal"
    /\ asleep' = asleep \ {Head(waiters)}
    /\ called' = [called EXCEPT ![c] = 1]
    /\ Go(c, "Unlock")
    /\ UNCHANGED <<now, lock, fields, held, then, deadline, round, asked, interruption>>

\* Whoever has waited does not ask whether the pool has been closed meanwhile.
EndWaitOfAClosedPool(t) ==
    /\ pc[t] = "EndWait"
    /\ IF t \in thrown
       THEN GiveUp(t)
       ELSE IF IsNext(t)
       THEN TakeWhatThereIs(t)
       ELSE IF now >= deadline[t]
       THEN GiveUp(t)
       ELSE /\ WaitAgain(t)
            /\ UNCHANGED fields
    /\ thrown' = thrown \ {t}
    /\ UNCHANGED <<now, lock, asleep, registers, interrupted>>

\* Each wait may last for the whole limit: what has been waited is not subtracted (3.3).
WaitAsLongAgain(t) ==
    /\ pc[t] = "Await"
    /\ t \notin interrupted
    /\ lock' = None
    /\ asleep' = asleep \cup {t}
    /\ deadline' = [deadline EXCEPT ![t] = now + Limit[t]]
    /\ Go(t, "Asleep")
    /\ UNCHANGED <<now, fields, held, then, round, called, asked, interruption>>

\* Rule 3.2: every buffer is broken up as soon as one has to be.
DropAllBuffers(wanted) == IF wanted <= nonPooled THEN 0 ELSE free

\* A client that leaves with its memory keeps the part that it has got together as well.
LeaveWithThePart(t, buffers, unpooled, step) ==
    /\ free' = buffers
    /\ nonPooled' = unpooled
    /\ held' = [held EXCEPT ![t] = Size(t)]
    /\ waiters' = Without(t)
    /\ then' = [then EXCEPT ![t] = step]
    /\ UNCHANGED <<closed, accumulated>>
    /\ SignalNext(t)

\* A client that does not get everything at once gives up.
TakeAllOrNothing(t) ==
    LET wanted == Size(t) - accumulated[t]
        dropped == BuffersToDrop(wanted)
        there == nonPooled + dropped * Poolable
    IN
    IF there >= wanted
    THEN LeaveWith(t, free - dropped, there - wanted, "Make")
    ELSE LeaveWithout(t, free - dropped, there, accumulated[t])

\* Whoever sleeps wakes without being told, before its time.
WakeUnasked(t) ==
    /\ pc[t] = "Asleep"
    /\ asleep' = asleep \ {t}
    /\ Go(t, "Relock")
    /\ UNCHANGED <<now, lock, fields, held, then, registers, interruption>>
=============================================================================
