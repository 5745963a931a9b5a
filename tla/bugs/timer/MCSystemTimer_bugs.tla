-------------------------- MODULE MCSystemTimer_bugs --------------------------
(* What replaces an action of SystemTimer to bring a mistake into it.  The manifest names the action
   that it replaces and the property that must break. *)
EXTENDS MCSystemTimer

\* A bucket is linked to and its expiration set, but it is not offered.
ForgetOffer(t) ==
    /\ pc[t] = "Offer"
    /\ into' = [into EXCEPT ![t] = None]
    /\ PutDown(t)
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, step, reading, polled, owed>>

\* Every entry offers its bucket, not only the first of a round.
OfferAlways(t) ==
    LET b == into[t] IN
    /\ pc[t] = "SetExpiration"
    /\ wheel' = WithKey(wheel, b, KeyFor(deadline[hand[t]], b[1]))
    /\ Go(t, "Offer")
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, step, reading, hand, into, polled,
                   owed>>

\* The bucket is offered first, and its expiration set afterwards.
OfferFirst(t) ==
    LET b == into[t] IN
    /\ pc[t] = "SetExpiration"
    /\ IF Key(b) = KeyFor(deadline[hand[t]], b[1])
       THEN /\ PutDown(t)
            /\ into' = [into EXCEPT ![t] = None]
            /\ UNCHANGED queue
       ELSE /\ queue' = Enqueue([bucket |-> b, key |-> Key(b)])
            /\ Go(t, "Offer")
            /\ UNCHANGED <<hand, into>>
    /\ UNCHANGED <<now, wheel, lock, closed, executor, tasks, step, reading, polled, owed>>

SetAfterwards(t) ==
    LET b == into[t] IN
    /\ pc[t] = "Offer"
    /\ wheel' = WithKey(wheel, b, KeyFor(deadline[hand[t]], b[1]))
    /\ into' = [into EXCEPT ![t] = None]
    /\ PutDown(t)
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, step, reading, polled, owed>>

\* A wheel that takes what lies a whole interval and more ahead, up to twice its reach.
RECURSIVE ReachTooFar(_, _, _)
ReachTooFar(levels, time, level) ==
    LET clock == levels[level + 1].clock IN
    IF time < clock + TickOf(level)
    THEN [levels |-> levels, level |-> Expired]
    ELSE IF time < clock + 2 * TickOf(level + 1)
    THEN [levels |-> levels, level |-> level]
    ELSE ReachTooFar(IF Len(levels) > level + 1
                     THEN levels
                     ELSE Append(levels, NewLevel(level + 1, clock)),
                     time, level + 1)

\* Only the lowest wheel's clock is advanced.
AdvanceLowestOnly(v) ==
    /\ pc[v] = "AdvanceClock"
    /\ wheel' =
        IF Key(polled[v]) < wheel[1].clock + TickMs
        THEN wheel
        ELSE [wheel EXCEPT ![1].clock = Truncate(Key(polled[v]), TickMs)]
    /\ Go(v, "FlushLock")
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, registers>>

\* The clock is set to the bucket's expiration even if it is past that.
SetClockBack(v) ==
    /\ pc[v] = "AdvanceClock"
    /\ wheel' =
        [l \in DOMAIN wheel |->
            [wheel[l] EXCEPT !.clock = Truncate(Key(polled[v]), TickOf(l - 1))]]
    /\ Go(v, "FlushLock")
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, registers>>

\* The bucket is flushed before the clock moves: its entries go back to where they come from.
PollAndFlush(v) ==
    /\ pc[v] = "Poll"
    /\ \E i \in Heads : IsDue(i) /\ Take(v, i)
    /\ Go(v, "FlushLock")
    /\ UNCHANGED <<now, wheel, lock, closed, executor, tasks, step, reading, hand, into, owed>>

AdvanceAtFlushEnd(v) ==
    /\ pc[v] = "FlushEntry"
    /\ Content(polled[v]) = <<>>
    /\ wheel' = WithKey(Advanced(wheel, Key(polled[v]), 0), polled[v], Idle)
    /\ polled' = [polled EXCEPT ![v] = None]
    /\ Go(v, "Poll")
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, step, reading, hand, into, owed>>

\* An advance takes one bucket and no more.
FlushOneBucket(v) ==
    /\ pc[v] = "FlushEntry"
    /\ Content(polled[v]) = <<>>
    /\ wheel' = WithKey(wheel, polled[v], Idle)
    /\ polled' = [polled EXCEPT ![v] = None]
    /\ Go(v, "UnlockWrite")
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, step, reading, hand, into, owed>>

\* Any bucket that is due is taken, not the first.
PollAny(v) ==
    /\ pc[v] = "Poll"
    /\ \E i \in DOMAIN queue : IsDue(i) /\ Take(v, i)
    /\ Go(v, "AdvanceClock")
    /\ UNCHANGED <<now, wheel, lock, closed, executor, tasks, step, reading, hand, into, owed>>

\* The head is taken whether it is due or not.
PollTooSoon(v) ==
    /\ pc[v] = "Poll"
    /\ \E i \in Heads : Take(v, i)
    /\ Go(v, "AdvanceClock")
    /\ UNCHANGED <<now, wheel, lock, closed, executor, tasks, step, reading, hand, into, owed>>

\* The wheel does not ask whether the entry was cancelled.
InsertCancelled(t) ==
    LET k == hand[t]
        place == Climb(wheel, deadline[k], 0)
    IN
    /\ pc[t] = "Insert"
    /\ IF place.level = Expired
       THEN /\ Go(t, "Submit")
            /\ UNCHANGED <<wheel, into>>
       ELSE /\ wheel' = place.levels
            /\ into' = [into EXCEPT ![t] = BucketFor(deadline[k], place.level)]
            /\ Go(t, "Link")
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, step, reading, hand, polled, owed>>

\* What the wheel does not take is submitted, cancelled or not.
SubmitUnclaimed(t) ==
    /\ pc[t] = "Submit"
    /\ state' = [state EXCEPT ![hand[t]] = "submitted"]
    /\ PutDown(t)
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, deadline, returned, step, reading,
                   into, polled, owed>>

\* A later add leaves the older entry where it is.
BindOnly(a) ==
    LET k == Program[a][step[a]] IN
    /\ pc[a] = "Bind"
    /\ state' = [state EXCEPT ![k] = "waiting"]
    /\ deadline' = [deadline EXCEPT ![k] = reading[a] + Delay[k]]
    /\ returned' = returned \ {k}
    /\ owed' = [v \in Advancers |-> owed[v] \ {k}]
    /\ hand' = [hand EXCEPT ![a] = k]
    /\ reading' = [reading EXCEPT ![a] = 0]
    /\ Go(a, "Insert")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, step, into, polled>>

\* The write side is given while readers are inside.
TakeWriteAmongReaders(t) ==
    /\ writer = None
    /\ writer' = t
    /\ queued' = queued \ {t}
    /\ UNCHANGED <<readers, admitted>>

\* A writer does not wait for the readers that have been admitted.
WriteBeforeAdmitted(t) == writer = None /\ readers = {}

\* A writer that leaves admits nobody: "writers" again.
ReleaseAndAdmitNobody ==
    /\ writer' = None
    /\ UNCHANGED <<readers, queued, admitted>>

\* close() does not wait for those inside: Kafka's shuts the executor and takes no lock (1.16).
CloseWithoutLock(c) ==
    /\ pc[c] = "CloseLock"
    /\ Go(c, "Shutdown")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, registers>>

\* add() does not ask whether the timer has been closed.
AddToClosed(a) ==
    /\ pc[a] = "LockRead"
    /\ TakeRead(a)
    /\ Go(a, "ReadClock")
    /\ UNCHANGED <<now, wheel, queue, closed, executor, tasks, registers>>

\* A reaper that does not notice that the timer has been closed.
AdvanceForEver(v) ==
    /\ pc[v] = "UnlockWrite"
    /\ ReleaseWrite
    /\ Settle(v)
    /\ Go(v, "Idle")
    /\ UNCHANGED <<now, wheel, queue, closed, executor, tasks, step, reading, hand, into, polled>>

\* The thread keeps what it has put down.
PutDownAndKeep(t) ==
    /\ Go(t, IF t \in Adders THEN "UnlockRead" ELSE "FlushEntry")
    /\ UNCHANGED hand
\* A thread that gets its side stays in the queue.
TakeWriteAndStayQueued(t) ==
    /\ MayWrite(t)
    /\ writer' = t
    /\ UNCHANGED <<readers, queued, admitted>>

\* A reader queues though it could go in.
QueueForReadAnyway(t) ==
    /\ LockOrder = "phases"
    /\ pc[t] = "LockRead"
    /\ QueueUp(t)

\* The clock that an add reads is ahead.
ReadClockAhead(a) ==
    /\ pc[a] = "ReadClock"
    /\ reading' = [reading EXCEPT ![a] = now + 1]
    /\ Go(a, "Bind")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, step, hand, into, polled,
                   owed>>

\* close() returns and leaves the executor open.
ShutdownOfNothing(c) ==
    /\ pc[c] = "Shutdown"
    /\ Go(c, "Done")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, registers>>

\* No advance learns that an add has returned.
ReturnUntold(a) ==
    LET last == step[a] = Len(Program[a]) IN
    /\ pc[a] = "UnlockRead"
    /\ ReleaseRead(a)
    /\ step' = [step EXCEPT ![a] = IF ~last THEN @ + 1 ELSE IF a \in Restless THEN 1 ELSE @]
    /\ Go(a, IF last /\ a \notin Restless THEN "Done" ELSE "LockRead")
    /\ UNCHANGED <<now, wheel, queue, closed, executor, tasks, reading, hand, into, polled, owed>>

\* An advance begins, and owes nothing.
OweNothing(v) ==
    /\ pc[v] = "Idle"
    /\ Go(v, "AwaitDue")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, registers>>

\* Nobody binds the task again that was claimed and refused.
ForgetTheRefused(t) ==
    /\ pc[t] = "TakeBack"
    /\ Go(t, IF t \in Adders THEN "Withdraw" ELSE "TestBack")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, registers>>

\* The flush that could not submit a task does not link it again.
LinkNothingBack(v) ==
    /\ pc[v] = "LinkBack"
    /\ hand' = [hand EXCEPT ![v] = None]
    /\ Go(v, "Requeue")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, step, reading, into, polled,
                   owed>>

\* It links the task behind the others.
LinkBackLast(v) ==
    /\ pc[v] = "LinkBack"
    /\ wheel' = WithTasks(wheel, polled[v], Append(Content(polled[v]), hand[v]))
    /\ hand' = [hand EXCEPT ![v] = None]
    /\ Go(v, "Requeue")
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, step, reading, into, polled, owed>>

\* Kafka's: the bucket was taken from the queue, and stays outside.
LeaveOutside(v) ==
    /\ pc[v] = "Requeue"
    /\ polled' = [polled EXCEPT ![v] = None]
    /\ owed' = [owed EXCEPT ![v] = {}]
    /\ Go(v, "UnlockWrite")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, step, reading, hand, into>>

\* The bucket goes back among those with its key, in any order.
AnyOfTheFirst == {i \in DOMAIN queue : queue[i].key = queue[1].key}

\* The executor raises after it has taken the task (6.8.5 leaves that to the executor).
SubmitAndRefuse(t) ==
    LET k == hand[t] IN
    /\ Refusing
    /\ pc[t] = "Submit"
    /\ Waiting(k)
    /\ state' = [state EXCEPT ![k] = "submitted"]
    /\ Go(t, "TakeBack")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, deadline, returned, registers>>

\* An add that raises leaves its task bound, though no bucket has it.
LeaveItBound(a) ==
    /\ pc[a] = "Withdraw"
    /\ PutDown(a)
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, step, reading, into, polled,
                   owed>>

\* An add that is refused puts its task into the bucket at hand.
WithdrawIntoABucket(a) ==
    LET k == hand[a] IN
    /\ pc[a] = "Withdraw"
    /\ state' = [state EXCEPT ![k] = "withdrawn"]
    /\ wheel' = WithTasks(wheel, BucketFor(deadline[k], 0), <<k>>)
    /\ PutDown(a)
    /\ UNCHANGED <<now, queue, lock, closed, executor, deadline, returned, step, reading, into,
                   polled, owed>>

\* A cancel leaves the task in its bucket until that expires.
CancelLeavesTheTask(c) ==
    LET k == Victim[c] IN
    /\ pc[c] = "CancelRemove"
    /\ Go(c, IF Waiting(k) THEN "CancelUnbind" ELSE "Done")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, registers>>

\* A task that is added again while it waits is due when it was before.
BindToTheOldDeadline(a) ==
    LET k == Program[a][step[a]] IN
    /\ pc[a] = "Bind"
    /\ ~BeingCancelled(k)
    /\ state' = [state EXCEPT ![k] = "waiting"]
    /\ deadline' = [deadline EXCEPT ![k] = IF Waiting(k) THEN @ ELSE reading[a] + Delay[k]]
    /\ wheel' = Without(wheel, k)
    /\ returned' = returned \ {k}
    /\ owed' = [v \in Advancers |-> owed[v] \ {k}]
    /\ hand' = [hand EXCEPT ![a] = k]
    /\ reading' = [reading EXCEPT ![a] = 0]
    /\ Go(a, "Insert")
    /\ UNCHANGED <<now, queue, lock, closed, executor, step, into, polled>>

\* An entry is linked at the head of its bucket.
LinkAtTheHead(t) ==
    /\ pc[t] = "Link"
    /\ wheel' = WithTasks(wheel, into[t], <<hand[t]>> \o Content(into[t]))
    /\ Go(t, "SetExpiration")
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, registers>>

\* A flush begins with the entry that was linked last.
FlushTheLast(v) ==
    LET content == Content(polled[v]) IN
    /\ pc[v] = "FlushEntry"
    /\ content # <<>>
    /\ wheel' = WithTasks(wheel, polled[v], SubSeq(content, 1, Len(content) - 1))
    /\ hand' = [hand EXCEPT ![v] = content[Len(content)]]
    /\ Go(v, "Insert")
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, step, reading, into, polled, owed>>

\* An overflow wheel begins at 0, whenever it is made.
NewLevelAtZero(level, start) ==
    [clock |-> 0, buckets |-> [i \in 0..(WheelSize - 1) |-> [key |-> Idle, tasks |-> <<>>]]]

\* An add is refused while somebody waits for the write side, as if that were a close.
RefuseBehindAWriter(a) ==
    /\ pc[a] = "LockRead"
    /\ writer = None
    /\ readers' = readers \cup {a}
    /\ queued' = queued \ {a}
    /\ admitted' = admitted \ {a}
    /\ Go(a, IF closed \/ WritersQueue THEN "Refuse" ELSE "ReadClock")
    /\ UNCHANGED <<now, wheel, queue, writer, closed, executor, tasks, registers>>
=============================================================================
