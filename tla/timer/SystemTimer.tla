---------------------------- MODULE SystemTimer ----------------------------
(***************************************************************************)
(* The timer of the broker: adders, cancellers, threads that advance it, a *)
(* thread that closes it, and a clock that goes on by itself.              *)
(*                                                                         *)
(* Source.       standard 1.1 - 1.9, 1.16, 1.18, 6.2.3, 6.2.4.             *)
(* Kafka.        SystemTimer: add, addTimerTaskEntry, advanceClock, close; *)
(*               TimingWheel.add; TimerTaskList.flush; DelayQueue: offer,  *)
(*               poll.                                                     *)
(* Abstraction.  A bucket is a key and a sequence of tasks; what its list  *)
(*               is made of is in EntryMigration.  The delay queue is a    *)
(*               heap as Java and Python have it: an element stays where   *)
(*               its key put it when it was offered, whatever happens to   *)
(*               the key; whether the head is due is seen from the key as  *)
(*               it is now.  Equal keys come out in any order.  Wait times *)
(*               are not modelled: a wait may end at any moment.  To       *)
(*               submit is to hand over to the executor.                   *)
(* Atomicity.    One step for each acquisition and release of the          *)
(*               read-write lock and each reading of the clock; for the    *)
(*               binding; for choosing a bucket; for linking; for setting  *)
(*               its expiration; for offering it; for claim and submit;    *)
(*               for taking a bucket from the queue, advancing the wheel's *)
(*               clock, taking the bucket's monitor, taking an entry out;  *)
(*               for a cancel taking the entry out, and for its unbinding. *)
(* Two designs.  PollUnderLock = TRUE is the reference: buckets are taken  *)
(*               from the queue only under the write side, which is asked  *)
(*               for even when nothing seems due.  FALSE is rule 1.5: the  *)
(*               first bucket is taken before the lock, and when there is  *)
(*               none the advance ends without the lock.                   *)
(* The lock.     LockOrder = "phases" is the reference, a phase-fair lock: *)
(*               a new reader waits while a writer waits, but the readers  *)
(*               that wait when a writer leaves go before the next writer  *)
(*               (B. Brandenburg and J. Anderson, Real-Time Systems 2010). *)
(*               "writers": readers wait as long as a writer waits.        *)
(*               "none": whoever comes takes what is free, as in Kafka.    *)
(* Refusals.     With Refusing = TRUE each call of the executor's submit   *)
(*               may raise.  The task was claimed before: it is claimed,   *)
(*               refused and bound again in two steps, and a cancel in     *)
(*               between comes in vain.  A flush links the task at the     *)
(*               head of its bucket again, tested and linked in two steps, *)
(*               and puts the bucket before all others with its key.       *)
(* Fairness.     With phases weak for adders: a reader that queues is let  *)
(*               in after one writer.  Strong for advancers and closers,   *)
(*               since writers may overtake each other: the lock does not  *)
(*               say which of them is next, but passes nobody over for     *)
(*               ever.  Without phases strong for adders, too.  An         *)
(*               executor that is asked again and again takes the task.    *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences

CONSTANTS
    TickMs,         \* the tick of level 0, in milliseconds
    WheelSize,      \* the number of buckets a level
    Tasks,          \* the tasks
    Delay,          \* task -> its delay in milliseconds
    Adders,         \* threads that add tasks
    Program,        \* adder -> the sequence of tasks that it adds
    Restless,       \* those adders that begin again when their program has ended
    Cancellers,     \* threads that cancel a task
    Victim,         \* canceller -> its task
    Advancers,      \* threads that call advance_clock again and again; a reaper is one
    Closers,        \* threads that close the timer
    PollUnderLock,  \* which design: see above
    LockOrder,      \* which lock: see above
    Refusing,       \* whether the executor may refuse a task: see above
    Reach,          \* for the refinement: the delays that there can be, counted from the binding
    None            \* nobody, nothing

ASSUME TickMs \in Nat \ {0}
ASSUME WheelSize \in Nat \ {0, 1}
ASSUME Delay \in [Tasks -> Int]
ASSUME Program \in [Adders -> Seq(Tasks)]
ASSUME Restless \subseteq Adders
ASSUME Victim \in [Cancellers -> Tasks]
ASSUME PollUnderLock \in BOOLEAN
ASSUME LockOrder \in {"none", "writers", "phases"}
ASSUME Refusing \in BOOLEAN

VARIABLES
    now,        \* what the clock shows, in milliseconds
    wheel,      \* the levels that exist, lowest first: each a clock and its buckets
    queue,      \* the delay queue: buckets with their key at the offer, smallest key first
    readers,    \* the threads that hold the read side of the lock
    writer,     \* the thread that holds its write side
    queued,     \* the threads that wait for either side and have not been admitted
    admitted,   \* the readers that a writer let pass when it left, until they have entered
    closed,     \* whether the timer has been closed
    executor,   \* "open" or "shut"
    state,      \* task -> one of States
    deadline,   \* task -> the expiration of the entry that it is bound to
    returned,   \* the tasks whose last add has returned
    pc,         \* thread -> its next step
    step,       \* adder -> the place in its program
    reading,    \* adder -> what it read from the clock
    hand,       \* thread -> the task whose entry it holds
    into,       \* thread -> the bucket that it has linked an entry to
    polled,     \* advancer -> the bucket that it has taken from the queue
    owed        \* history: advancer -> the tasks that its advance has to submit

lock == <<readers, writer, queued, admitted>>
tasks == <<state, deadline, returned>>
registers == <<step, reading, hand, into, polled, owed>>
vars == <<now, wheel, queue, lock, closed, executor, tasks, pc, registers>>

Threads == Adders \cup Cancellers \cup Advancers \cup Closers
Workers == Adders \cup Advancers

\* "rejected": handed to an executor that had been shut.  Where the executor may refuse: "claimed"
\* is a task that it has refused and that nobody has bound again, "refused" one that waits for the
\* next advance since then, "withdrawn" one whose add has raised.
States ==
    {"idle", "waiting", "submitted", "cancelled", "rejected", "claimed", "refused", "withdrawn"}

Waiting(k) == state[k] \in {"waiting", "refused"}

Go(t, label) == pc' = [pc EXCEPT ![t] = label]

-----------------------------------------------------------------------------
(* Times and levels (1.3, 1.4, 1.8) *)

Idle == -1

Expired == -1

Truncate(time, tick) == time - (time % tick)

RECURSIVE TickOf(_)
TickOf(level) == IF level = 0 THEN TickMs ELSE WheelSize * TickOf(level - 1)

Due(k) == Truncate(deadline[k], TickMs)

\* The bucket of level `level` for `time`, and the expiration of that bucket.
BucketFor(time, level) == <<level, (time \div TickOf(level)) % WheelSize>>
KeyFor(time, level) == Truncate(time, TickOf(level))

NewLevel(level, start) ==
    [clock |-> Truncate(start, TickOf(level)),
     buckets |-> [i \in 0..(WheelSize - 1) |-> [key |-> Idle, tasks |-> <<>>]]]

\* The level that takes `time`, from `level` upwards, with the levels made on the way (1.3).
RECURSIVE Climb(_, _, _)
Climb(levels, time, level) ==
    LET clock == levels[level + 1].clock IN
    IF time < clock + TickOf(level)
    THEN [levels |-> levels, level |-> Expired]
    ELSE IF time < clock + TickOf(level + 1)
    THEN [levels |-> levels, level |-> level]
    ELSE Climb(IF Len(levels) > level + 1
               THEN levels
               ELSE Append(levels, NewLevel(level + 1, clock)),
               time, level + 1)

RECURSIVE Advanced(_, _, _)
Advanced(levels, time, level) ==
    IF level = Len(levels) \/ time < levels[level + 1].clock + TickOf(level)
    THEN levels
    ELSE Advanced([levels EXCEPT ![level + 1].clock = Truncate(time, TickOf(level))],
                  Truncate(time, TickOf(level)), level + 1)

AllBuckets == {<<level, i>> : level \in 0..(Len(wheel) - 1), i \in 0..(WheelSize - 1)}

Key(b) == wheel[b[1] + 1].buckets[b[2]].key
Content(b) == wheel[b[1] + 1].buckets[b[2]].tasks

Range(sequence) == {sequence[i] : i \in DOMAIN sequence}

WithKey(levels, b, key) == [levels EXCEPT ![b[1] + 1].buckets[b[2]].key = key]
WithTasks(levels, b, content) == [levels EXCEPT ![b[1] + 1].buckets[b[2]].tasks = content]

\* All buckets without k.
Without(levels, k) ==
    [l \in DOMAIN levels |->
        [levels[l] EXCEPT !.buckets =
            [i \in DOMAIN levels[l].buckets |->
                [levels[l].buckets[i] EXCEPT !.tasks = SelectSeq(@, LAMBDA j : j # k)]]]]

-----------------------------------------------------------------------------
(* The delay queue *)

Before(x, y) ==
    \/ x.key < y.key
    \/ /\ x.key = y.key
       /\ \/ x.bucket[1] < y.bucket[1]
          \/ x.bucket[1] = y.bucket[1] /\ x.bucket[2] < y.bucket[2]

Enqueue(x) ==
    SelectSeq(queue, LAMBDA y : ~Before(x, y)) \o <<x>> \o SelectSeq(queue, LAMBDA y : Before(x, y))

\* The place in the queue of a bucket whose first task was refused.
IsBehindARefusal(i) ==
    LET content == Content(queue[i].bucket) IN content # <<>> /\ state[Head(content)] = "refused"

\* The places in the queue that may be the head: a bucket whose task was refused goes first.
Heads ==
    LET first == {i \in DOMAIN queue : queue[i].key = queue[1].key}
        refused == {i \in first : IsBehindARefusal(i)}
    IN  IF refused = {} THEN first ELSE refused

IsDue(i) == Key(queue[i].bucket) <= now

Dequeue(i) == SubSeq(queue, 1, i - 1) \o SubSeq(queue, i + 1, Len(queue))

-----------------------------------------------------------------------------

Init ==
    /\ now = 0
    /\ wheel = <<NewLevel(0, 0)>>
    /\ queue = <<>>
    /\ readers = {}
    /\ writer = None
    /\ queued = {}
    /\ admitted = {}
    /\ closed = FALSE
    /\ executor = "open"
    /\ state = [k \in Tasks |-> "idle"]
    /\ deadline = [k \in Tasks |-> 0]
    /\ returned = {}
    /\ pc = [t \in Threads |->
            CASE t \in Adders -> "LockRead"
              [] t \in Cancellers -> "CancelRemove"
              [] t \in Advancers -> "Idle"
              [] t \in Closers -> "CloseLock"]
    /\ step = [a \in Adders |-> 1]
    /\ reading = [a \in Adders |-> 0]
    /\ hand = [t \in Workers |-> None]
    /\ into = [t \in Workers |-> None]
    /\ polled = [v \in Advancers |-> None]
    /\ owed = [v \in Advancers |-> {}]

\* The moments that may follow: models put an end to time here.
Later(time) == {time + 1}

Tick ==
    /\ now' \in Later(now)
    /\ UNCHANGED <<wheel, queue, lock, closed, executor, tasks, pc, registers>>

-----------------------------------------------------------------------------
(* The read-write lock *)

WritersQueue == queued \cap (Advancers \cup Closers) # {}

MayRead(t) ==
    /\ writer = None
    /\ LockOrder # "none" /\ t \notin admitted => ~WritersQueue

MayWrite(t) == writer = None /\ readers = {} /\ admitted = {}

TakeRead(t) ==
    /\ MayRead(t)
    /\ readers' = readers \cup {t}
    /\ queued' = queued \ {t}
    /\ admitted' = admitted \ {t}
    /\ UNCHANGED writer

TakeWrite(t) ==
    /\ MayWrite(t)
    /\ writer' = t
    /\ queued' = queued \ {t}
    /\ UNCHANGED <<readers, admitted>>

ReleaseRead(t) ==
    /\ readers' = readers \ {t}
    /\ UNCHANGED <<writer, queued, admitted>>

\* The readers that wait now go before the next writer.
ReleaseWrite ==
    /\ writer' = None
    /\ admitted' = admitted \cup (queued \cap Adders)
    /\ queued' = queued \ Adders
    /\ UNCHANGED readers

QueueUp(t) ==
    /\ t \notin queued \cup admitted
    /\ queued' = queued \cup {t}
    /\ UNCHANGED <<now, wheel, queue, readers, writer, admitted, closed, executor, tasks, pc,
                   registers>>

\* What a thread does that cannot have its side at once; only phases ask which readers wait.
QueueForRead(t) ==
    /\ LockOrder = "phases"
    /\ pc[t] = "LockRead"
    /\ ~MayRead(t)
    /\ QueueUp(t)

QueueForWrite(t) ==
    /\ LockOrder # "none"
    /\ pc[t] \in {"LockWrite", "CloseLock"}
    /\ ~MayWrite(t)
    /\ QueueUp(t)

-----------------------------------------------------------------------------
(* SystemTimer.add (1.2) *)

\* A closed timer refuses.
LockRead(a) ==
    /\ pc[a] = "LockRead"
    /\ TakeRead(a)
    /\ Go(a, IF closed THEN "Refuse" ELSE "ReadClock")
    /\ UNCHANGED <<now, wheel, queue, closed, executor, tasks, registers>>

Refuse(a) ==
    /\ pc[a] = "Refuse"
    /\ ReleaseRead(a)
    /\ Go(a, "Done")
    /\ UNCHANGED <<now, wheel, queue, closed, executor, tasks, registers>>

ReadClock(a) ==
    /\ pc[a] = "ReadClock"
    /\ reading' = [reading EXCEPT ![a] = now]
    /\ Go(a, "Bind")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, step, hand, into, polled,
                   owed>>

\* Whoever cancels holds the task's monitor until the end.
BeingCancelled(k) == \E c \in Cancellers : Victim[c] = k /\ pc[c] = "CancelUnbind"

\* The older entry leaves its bucket; what was owed to it is owed no more (1.12).
Bind(a) ==
    LET k == Program[a][step[a]] IN
    /\ pc[a] = "Bind"
    /\ ~BeingCancelled(k)
    /\ state' = [state EXCEPT ![k] = "waiting"]
    /\ deadline' = [deadline EXCEPT ![k] = reading[a] + Delay[k]]
    /\ wheel' = Without(wheel, k)
    /\ returned' = returned \ {k}
    /\ owed' = [v \in Advancers |-> owed[v] \ {k}]
    /\ hand' = [hand EXCEPT ![a] = k]
    /\ reading' = [reading EXCEPT ![a] = 0]
    /\ Go(a, "Insert")
    /\ UNCHANGED <<now, queue, lock, closed, executor, step, into, polled>>

UnlockRead(a) ==
    LET last == step[a] = Len(Program[a]) IN
    /\ pc[a] = "UnlockRead"
    /\ ReleaseRead(a)
    /\ returned' = returned \cup {Program[a][step[a]]}
    /\ step' = [step EXCEPT ![a] = IF ~last THEN @ + 1 ELSE IF a \in Restless THEN 1 ELSE @]
    /\ Go(a, IF last /\ a \notin Restless THEN "Done" ELSE "LockRead")
    /\ UNCHANGED <<now, wheel, queue, closed, executor, state, deadline, reading, hand, into,
                   polled, owed>>

-----------------------------------------------------------------------------
(* Putting an entry into the wheel, by an adder or by the flush (1.2 c and d, 1.3) *)

\* The entry in hand is dealt with.
PutDown(t) ==
    /\ hand' = [hand EXCEPT ![t] = None]
    /\ Go(t, IF t \in Adders THEN "UnlockRead" ELSE "FlushEntry")

\* Where the entry belongs, if it is not cancelled; the levels on the way there are made.
Insert(t) ==
    LET k == hand[t]
        place == Climb(wheel, deadline[k], 0)
    IN
    /\ pc[t] = "Insert"
    /\ IF ~Waiting(k) \/ place.level = Expired
       THEN /\ Go(t, "Submit")
            /\ UNCHANGED <<wheel, into>>
       ELSE /\ wheel' = place.levels
            /\ into' = [into EXCEPT ![t] = BucketFor(deadline[k], place.level)]
            /\ Go(t, "Link")
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, step, reading, hand, polled, owed>>

\* Cancelled since then or not: that is how leftovers come about (1.11).
Link(t) ==
    /\ pc[t] = "Link"
    /\ wheel' = WithTasks(wheel, into[t], Append(Content(into[t]), hand[t]))
    /\ Go(t, "SetExpiration")
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, registers>>

\* get_and_set: the bucket is offered iff that changed it.
SetExpiration(t) ==
    LET b == into[t]
        key == KeyFor(deadline[hand[t]], b[1])
    IN
    /\ pc[t] = "SetExpiration"
    /\ wheel' = WithKey(wheel, b, key)
    /\ IF Key(b) = key
       THEN /\ PutDown(t)
            /\ into' = [into EXCEPT ![t] = None]
       ELSE /\ Go(t, "Offer")
            /\ UNCHANGED <<hand, into>>
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, step, reading, polled, owed>>

Offer(t) ==
    /\ pc[t] = "Offer"
    /\ queue' = Enqueue([bucket |-> into[t], key |-> Key(into[t])])
    /\ into' = [into EXCEPT ![t] = None]
    /\ PutDown(t)
    /\ UNCHANGED <<now, wheel, lock, closed, executor, tasks, step, reading, polled, owed>>

\* Claims the task first; one that was cancelled meanwhile is not submitted.
Submit(t) ==
    LET k == hand[t] IN
    /\ pc[t] = "Submit"
    /\ state' =
        IF ~Waiting(k)
        THEN state
        ELSE [state EXCEPT ![k] = IF executor = "open" THEN "submitted" ELSE "rejected"]
    /\ PutDown(t)
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, deadline, returned, step, reading,
                   into, polled, owed>>

-----------------------------------------------------------------------------
(* The executor refuses a task (6.2.3, 6.2.4) *)

\* submit() raises after the task was claimed.
RefuseTask(t) ==
    LET k == hand[t] IN
    /\ Refusing
    /\ pc[t] = "Submit"
    /\ Waiting(k)
    /\ state' = [state EXCEPT ![k] = "claimed"]
    /\ Go(t, "TakeBack")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, deadline, returned, registers>>

\* The task is bound to its entry again; an adder goes on to raise, a flush to put it back.
TakeBack(t) ==
    LET k == hand[t] IN
    /\ pc[t] = "TakeBack"
    /\ state' = [state EXCEPT ![k] = IF t \in Adders THEN "waiting" ELSE "refused"]
    /\ Go(t, IF t \in Adders THEN "Withdraw" ELSE "TestBack")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, deadline, returned, registers>>

\* An add that raises leaves nothing in the timer, and nobody owes it anything.
Withdraw(a) ==
    LET k == hand[a] IN
    /\ pc[a] = "Withdraw"
    /\ state' = [state EXCEPT ![k] = IF Waiting(k) THEN "withdrawn" ELSE @]
    /\ wheel' = Without(wheel, k)
    /\ PutDown(a)
    /\ UNCHANGED <<now, queue, lock, closed, executor, deadline, returned, step, reading, into,
                   polled, owed>>

\* Under the bucket's monitor; a cancel may still come before the task is linked.
TestBack(v) ==
    LET k == hand[v] IN
    /\ pc[v] = "TestBack"
    /\ Go(v, IF Waiting(k) THEN "LinkBack" ELSE "Requeue")
    /\ hand' = IF Waiting(k) THEN hand ELSE [hand EXCEPT ![v] = None]
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, step, reading, into, polled,
                   owed>>

LinkBack(v) ==
    /\ pc[v] = "LinkBack"
    /\ wheel' = WithTasks(wheel, polled[v], <<hand[v]>> \o Content(polled[v]))
    /\ hand' = [hand EXCEPT ![v] = None]
    /\ Go(v, "Requeue")
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, step, reading, into, polled, owed>>

\* The bucket keeps its key.  An advance that raises owes nothing more: the next one does.
Requeue(v) ==
    /\ pc[v] = "Requeue"
    /\ queue' = Enqueue([bucket |-> polled[v], key |-> Key(polled[v])])
    /\ polled' = [polled EXCEPT ![v] = None]
    /\ owed' = [owed EXCEPT ![v] = {}]
    /\ Go(v, "UnlockWrite")
    /\ UNCHANGED <<now, wheel, lock, closed, executor, tasks, step, reading, hand, into>>

-----------------------------------------------------------------------------
(* TimerTask.cancel (1.10) *)

\* Somebody flushes b and holds its monitor.
IsFlushed(b) == \E v \in Advancers :
    /\ polled[v] = b
    /\ pc[v] \in {"FlushEntry", "Insert", "Link", "SetExpiration", "Offer", "Submit", "TakeBack",
                  "TestBack", "LinkBack"}

\* Out of whichever bucket holds it; from none if it is on its way into one.
CancelRemove(c) ==
    LET k == Victim[c] IN
    /\ pc[c] = "CancelRemove"
    /\ IF Waiting(k)
       THEN /\ \A b \in AllBuckets : k \in Range(Content(b)) => ~IsFlushed(b)
            /\ wheel' = Without(wheel, k)
            /\ Go(c, "CancelUnbind")
       ELSE /\ Go(c, "Done")
            /\ UNCHANGED wheel
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, registers>>

\* In vain if the task has been claimed meanwhile.
CancelUnbind(c) ==
    LET k == Victim[c] IN
    /\ pc[c] = "CancelUnbind"
    /\ state' = IF Waiting(k) THEN [state EXCEPT ![k] = "cancelled"] ELSE state
    /\ Go(c, "Done")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, deadline, returned, registers>>

Canceller(c) == CancelRemove(c) \/ CancelUnbind(c)

-----------------------------------------------------------------------------
(* SystemTimer.advance_clock (1.5, 1.6) *)

\* From here on the advance owes the tasks whose add has returned and which are due by now.
StartAdvance(v) ==
    /\ pc[v] = "Idle"
    /\ owed' = [owed EXCEPT ![v] = {k \in returned : Waiting(k) /\ Due(k) <= now}]
    /\ Go(v, "AwaitDue")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, step, reading, hand, into,
                   polled>>

Take(v, i) ==
    /\ polled' = [polled EXCEPT ![v] = queue[i].bucket]
    /\ queue' = Dequeue(i)

\* Ends when something is due or the time is out, and takes nothing.
AwaitDue(v) ==
    /\ PollUnderLock
    /\ pc[v] = "AwaitDue"
    /\ Go(v, "LockWrite")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, registers>>

\* Rule 1.5: takes the first bucket outside the lock.
PollOutside(v) ==
    /\ ~PollUnderLock
    /\ pc[v] = "AwaitDue"
    /\ \E i \in Heads : IsDue(i) /\ Take(v, i)
    /\ Go(v, "LockWrite")
    /\ UNCHANGED <<now, wheel, lock, closed, executor, tasks, step, reading, hand, into, owed>>

\* What of the advance's debt is left when it ends; whoever is cancelling a task takes it over.
Settle(v) ==
    owed' = [owed EXCEPT
        ![v] = IF closed THEN {} ELSE {k \in @ : Waiting(k) /\ ~BeingCancelled(k)}]

\* Rule 1.5: nothing in time, so the advance ends.
TimeOut(v) ==
    /\ ~PollUnderLock
    /\ pc[v] = "AwaitDue"
    /\ \A i \in Heads : ~IsDue(i)
    /\ Settle(v)
    /\ Go(v, "Idle")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, step, reading, hand, into,
                   polled>>

\* A closed timer refuses.
LockWrite(v) ==
    /\ pc[v] = "LockWrite"
    /\ TakeWrite(v)
    /\ Go(v, IF closed THEN "UnlockWrite" ELSE IF polled[v] = None THEN "Poll" ELSE "AdvanceClock")
    /\ UNCHANGED <<now, wheel, queue, closed, executor, tasks, registers>>

Poll(v) ==
    /\ pc[v] = "Poll"
    /\ \E i \in Heads : IsDue(i) /\ Take(v, i)
    /\ Go(v, "AdvanceClock")
    /\ UNCHANGED <<now, wheel, lock, closed, executor, tasks, step, reading, hand, into, owed>>

PollNothing(v) ==
    /\ pc[v] = "Poll"
    /\ queue = <<>> \/ \E i \in Heads : ~IsDue(i)
    /\ Go(v, "UnlockWrite")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, registers>>

AdvanceClock(v) ==
    /\ pc[v] = "AdvanceClock"
    /\ wheel' = Advanced(wheel, Key(polled[v]), 0)
    /\ Go(v, "FlushLock")
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, registers>>

\* The bucket's monitor: from here on nobody else takes an entry out.
FlushLock(v) ==
    /\ pc[v] = "FlushLock"
    /\ Go(v, "FlushEntry")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, executor, tasks, registers>>

\* The head leaves the bucket; Insert or Submit deals with it.
FlushEntry(v) ==
    LET content == Content(polled[v]) IN
    /\ pc[v] = "FlushEntry"
    /\ content # <<>>
    /\ wheel' = WithTasks(wheel, polled[v], Tail(content))
    /\ hand' = [hand EXCEPT ![v] = Head(content)]
    /\ Go(v, "Insert")
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, step, reading, into, polled, owed>>

FlushEnd(v) ==
    /\ pc[v] = "FlushEntry"
    /\ Content(polled[v]) = <<>>
    /\ wheel' = WithKey(wheel, polled[v], Idle)
    /\ polled' = [polled EXCEPT ![v] = None]
    /\ Go(v, "Poll")
    /\ UNCHANGED <<now, queue, lock, closed, executor, tasks, step, reading, hand, into, owed>>

UnlockWrite(v) ==
    /\ pc[v] = "UnlockWrite"
    /\ ReleaseWrite
    /\ Settle(v)
    /\ Go(v, IF closed THEN "Done" ELSE "Idle")
    /\ UNCHANGED <<now, wheel, queue, closed, executor, tasks, step, reading, hand, into, polled>>

-----------------------------------------------------------------------------
(* SystemTimer.close (1.16) *)

CloseLock(c) ==
    /\ pc[c] = "CloseLock"
    /\ TakeWrite(c)
    /\ closed' = TRUE
    /\ Go(c, "CloseUnlock")
    /\ UNCHANGED <<now, wheel, queue, executor, tasks, registers>>

CloseUnlock(c) ==
    /\ pc[c] = "CloseUnlock"
    /\ ReleaseWrite
    /\ Go(c, "Shutdown")
    /\ UNCHANGED <<now, wheel, queue, closed, executor, tasks, registers>>

Shutdown(c) ==
    /\ pc[c] = "Shutdown"
    /\ executor' = "shut"
    /\ Go(c, "Done")
    /\ UNCHANGED <<now, wheel, queue, lock, closed, tasks, registers>>

-----------------------------------------------------------------------------

PutStep(t) ==
    \/ Insert(t) \/ Link(t) \/ SetExpiration(t) \/ Offer(t) \/ Submit(t)
    \/ RefuseTask(t) \/ TakeBack(t)

AddStep(a) ==
    Refuse(a) \/ ReadClock(a) \/ Bind(a) \/ UnlockRead(a) \/ PutStep(a) \/ Withdraw(a)

AdvanceStep(v) ==
    \/ StartAdvance(v) \/ AwaitDue(v) \/ PollOutside(v) \/ TimeOut(v)
    \/ Poll(v) \/ PollNothing(v) \/ AdvanceClock(v)
    \/ FlushLock(v) \/ FlushEntry(v) \/ FlushEnd(v) \/ PutStep(v) \/ UnlockWrite(v)
    \/ TestBack(v) \/ LinkBack(v) \/ Requeue(v)

CloseStep(c) == CloseUnlock(c) \/ Shutdown(c)

\* Without anybody who advances, all threads may have ended.
Terminated ==
    /\ \A t \in Threads : pc[t] = "Done"
    /\ UNCHANGED vars

Adder(a) == LockRead(a) \/ QueueForRead(a) \/ AddStep(a)
Advancer(v) == LockWrite(v) \/ QueueForWrite(v) \/ AdvanceStep(v)
Closer(c) == CloseLock(c) \/ QueueForWrite(c) \/ CloseStep(c)

Next ==
    \/ \E a \in Adders : Adder(a)
    \/ \E c \in Cancellers : Canceller(c)
    \/ \E v \in Advancers : Advancer(v)
    \/ \E c \in Closers : Closer(c)
    \/ Tick
    \/ Terminated

\* Strong for the sake of LockWrite, CloseLock and (without phases) LockRead alone: every other
\* step of a thread stays enabled until it is taken.  Nobody is obliged to cancel, but whoever has
\* begun to.
Fairness ==
    /\ WF_vars(Tick)
    /\ \A c \in Cancellers : WF_vars(CancelUnbind(c))
    /\ \A a \in Adders :
        /\ LockOrder = "phases" => WF_vars(Adder(a))
        /\ LockOrder # "phases" => SF_vars(Adder(a))
    /\ \A v \in Advancers :
        /\ SF_vars(Advancer(v))
        /\ Refusing => SF_vars(Submit(v))
    /\ \A c \in Closers : SF_vars(Closer(c))

Spec == Init /\ [][Next]_vars /\ Fairness

\* With phases and a single writer this is enough.
WeakFairness ==
    /\ WF_vars(Tick)
    /\ \A c \in Cancellers : WF_vars(CancelUnbind(c))
    /\ \A a \in Adders : WF_vars(Adder(a))
    /\ \A v \in Advancers : WF_vars(Advancer(v))
    /\ \A c \in Closers : WF_vars(Closer(c))

WeaklyFairSpec == Init /\ [][Next]_vars /\ WeakFairness

-----------------------------------------------------------------------------
(* Invariants (1.18) *)

Labels ==
    {"LockRead", "Refuse", "ReadClock", "Bind", "Insert", "Link", "SetExpiration", "Offer",
     "Submit", "UnlockRead", "CancelRemove", "CancelUnbind", "Idle", "AwaitDue", "LockWrite",
     "Poll", "AdvanceClock", "FlushLock", "FlushEntry", "UnlockWrite", "CloseLock", "CloseUnlock",
     "Shutdown", "TakeBack", "Withdraw", "TestBack", "LinkBack", "Requeue", "Done"}

BucketType == [key : Int, tasks : Seq(Tasks)]
LevelType == [clock : Int, buckets : [0..(WheelSize - 1) -> BucketType]]

TypeOK ==
    /\ now \in Nat
    /\ wheel \in Seq(LevelType)
    /\ queue \in Seq([bucket : AllBuckets, key : Int])
    /\ readers \subseteq Adders
    /\ writer \in Advancers \cup Closers \cup {None}
    /\ queued \subseteq Adders \cup Advancers \cup Closers
    /\ admitted \subseteq Adders \ (queued \cup readers)
    /\ closed \in BOOLEAN
    /\ executor \in {"open", "shut"}
    /\ state \in [Tasks -> States]
    /\ deadline \in [Tasks -> Int]
    /\ returned \subseteq Tasks
    /\ pc \in [Threads -> Labels]
    /\ step \in [Adders -> Nat \ {0}]
    /\ reading \in [Adders -> Nat]
    /\ hand \in [Workers -> Tasks \cup {None}]
    /\ into \in [Workers -> AllBuckets \cup {None}]
    /\ polled \in [Advancers -> AllBuckets \cup {None}]
    /\ owed \in [Advancers -> SUBSET Tasks]

MutualExclusion == writer # None => readers = {}

TaskInOneBucketAtMost ==
    \A k \in Tasks :
        Cardinality({<<b, i>> \in UNION {{b} \X DOMAIN Content(b) : b \in AllBuckets} :
            Content(b)[i] = k}) <= 1

\* What is linked and does not wait is a leftover of a cancel (1.11).
LinkedTasksWaitOrAreLeftovers ==
    \A b \in AllBuckets : \A k \in Range(Content(b)) : Waiting(k) \/ state[k] = "cancelled"

QueueHoldsABucketOnce ==
    \A i, j \in DOMAIN queue : queue[i].bucket = queue[j].bucket => i = j

KeyOfAQueuedBucketNeverChanges == \A i \in DOMAIN queue : queue[i].key = Key(queue[i].bucket)

\* Else what is due would wait for what is not.
QueueHidesNothingDue == (\E i \in DOMAIN queue : IsDue(i)) => \E i \in Heads : IsDue(i)

\* Someone has linked to b and may still have to offer it, or flushes b.
IsAtWork(b) ==
    \/ \E t \in Workers : into[t] = b
    \/ \E v \in Advancers : polled[v] = b

NonEmptyBucketIsQueuedOrAboutToBe ==
    \A b \in AllBuckets :
        Content(b) # <<>> =>
            IsAtWork(b) \/ \E i \in DOMAIN queue : queue[i].bucket = b

\* The expiration follows as soon as the first entry of a round is linked.
EntriesOfABucketShareOneVirtualId ==
    \A b \in AllBuckets : \A k \in Range(Content(b)) :
        /\ \A j \in Range(Content(b)) : KeyFor(deadline[j], b[1]) = KeyFor(deadline[k], b[1])
        /\ \/ Key(b) = KeyFor(deadline[k], b[1])
           \/ \E t \in Workers : into[t] = b /\ pc[t] = "SetExpiration"

WheelClocksAgree ==
    \A l \in DOMAIN wheel : wheel[l].clock = Truncate(wheel[1].clock, TickOf(l - 1))

WheelClockNeverAheadOfTheClock == \A l \in DOMAIN wheel : wheel[l].clock <= now

\* Rule 1.8: rounded down to the tick, and no earlier.
NeverEarlyByATick == \A k \in Tasks : state[k] = "submitted" => Due(k) <= now

\* Each bucket that an advance takes lies at or after the one before it (1.9).
BucketsFireInOrderOfExpiration ==
    \A v \in Advancers : pc[v] = "AdvanceClock" => wheel[1].clock <= Key(polled[v])

DueTaskIsSubmittedByTheEndOfTheAdvance == \A v \in Advancers : pc[v] = "Idle" => owed[v] = {}

\* What the timer has taken in is not lost because the executor refuses it (1.16).
NothingIsRejected == \A k \in Tasks : state[k] # "rejected"

\* When close() returns, the executor has stopped (1.16).
CloseStopsTheExecutor == \A c \in Closers : pc[c] = "Done" => executor = "shut"

-----------------------------------------------------------------------------
\* An advance that begins after an add has returned owes its task, if that is due (1.6).
WhatIsAddedCanBeOwed ==
    \A k \in Tasks : Waiting(k) =>
        \/ k \in returned
        \/ \E a \in Adders : Program[a][step[a]] = k
            /\ pc[a] \in {"Insert", "Link", "SetExpiration", "Offer", "Submit", "Withdraw",
                          "UnlockRead"}

DeadlineIsTheDelayFromTheCall ==
    \A k \in Tasks : Waiting(k) => deadline[k] \in Delay[k]..(now + Delay[k])

\* A lock without an order has no queue, and one that does not know phases has only writers there.
WhoeverQueuesIsAtTheLock ==
    /\ queued \cup admitted # {} => LockOrder # "none"
    /\ \A t \in queued \cup admitted :
        IF t \in Adders
        THEN pc[t] = "LockRead" /\ LockOrder = "phases"
        ELSE pc[t] \in {"LockWrite", "CloseLock"} /\ t \notin admitted

\* What a call needs is gone when it ends.
CallsLeaveNothingBehind ==
    /\ \A a \in Adders : pc[a] \in {"LockRead", "Refuse", "ReadClock", "UnlockRead", "Done"} =>
        reading[a] = 0 /\ hand[a] = None /\ into[a] = None
    /\ \A v \in Advancers : pc[v] \in {"Idle", "AwaitDue", "Poll", "UnlockWrite", "Done"} =>
        polled[v] = None /\ hand[v] = None /\ into[v] = None

(* What holds whatever the executor refuses (6.2.3, 6.2.4) *)

\* Somebody who cancels has taken k out of its bucket, or it is on its way back there.
IsOnItsWay(k) == BeingCancelled(k) \/ \E t \in Workers : hand[t] = k

\* A refused task is the first of a bucket that the next advance finds.
ARefusedTaskStays ==
    \A k \in Tasks :
        state[k] = "refused" /\ ~IsOnItsWay(k) =>
            \E b \in AllBuckets :
                /\ Content(b) # <<>>
                /\ Head(Content(b)) = k
                /\ IsAtWork(b) \/ \E i \in DOMAIN queue : queue[i].bucket = b

\* Nothing is submitted by an advance before the task that the one before could not submit.
TheNextAdvanceBeginsWithTheRefused ==
    \A v \in Advancers :
        pc[v] = "Submit" /\ Waiting(hand[v]) =>
            \A k \in Tasks \ {hand[v]} : state[k] = "refused" => BeingCancelled(k)

\* What is claimed has been refused to whoever holds it, for a moment.
AClaimedTaskIsTakenBack ==
    \A k \in Tasks : state[k] = "claimed" => \E t \in Workers : hand[t] = k /\ pc[t] = "TakeBack"

ARefusedAddLeavesNothing ==
    \A k \in Tasks : state[k] = "withdrawn" =>
        /\ \A b \in AllBuckets : k \notin Range(Content(b))
        /\ \A t \in Workers : hand[t] # k

\* A task that waits is in a bucket, or in the hands of somebody.
NoTaskIsLost ==
    \A k \in Tasks : Waiting(k) =>
        IsOnItsWay(k) \/ \E b \in AllBuckets : k \in Range(Content(b))

(* Action properties *)

WheelClockNeverGoesBack == [][\A l \in DOMAIN wheel : wheel'[l].clock >= wheel[l].clock]_vars

CancelledTasksAreNotSubmitted ==
    [][\A k \in Tasks : state[k] = "cancelled" => state'[k] # "submitted"]_vars

\* Whether it is cancelled is asked before it is linked, not while (1.2 c, 1.11).
CancelledTasksGetNoBucket ==
    [][\A t \in Workers : pc[t] = "Insert" /\ ~Waiting(hand[t]) => into'[t] = None]_vars

\* What cancel achieves (1.10): it goes on when the task is in no bucket.  Only whoever has the task
\* in hand then can put it back (1.11).
CancelTakesTheTaskOut ==
    [][\A c \in Cancellers : pc[c] # "CancelUnbind" /\ pc'[c] = "CancelUnbind" =>
        wheel' = Without(wheel', Victim[c])]_vars

WhoeverQueuesHasToWait ==
    [][\A t \in queued' \ queued : IF t \in Adders THEN ~MayRead(t) ELSE ~MayWrite(t)]_vars

NothingIsAddedAfterClose ==
    [][\A k \in Tasks : closed /\ ~Waiting(k) /\ state[k] # "claimed" => state'[k] = state[k]]_vars

\* Rule 1.16.1: from the return of close() on; and not before its call.
AddsAreRefusedAfterClose ==
    [][\A a \in Adders : pc[a] = "LockRead" /\ pc'[a] # "LockRead" =>
        IF pc'[a] = "Refuse"
        THEN \E c \in Closers : pc[c] # "CloseLock"
        ELSE \A c \in Closers : pc[c] # "Done"]_vars

\* What was added before an advance began, and is due by then, is owed (1.6).
AnAdvanceOwesWhatIsDue ==
    [][\A v \in Advancers : pc[v] = "Idle" /\ pc'[v] # "Idle" =>
        {k \in returned : Waiting(k) /\ Due(k) <= now} \subseteq owed'[v]]_vars

-----------------------------------------------------------------------------
(* Liveness *)

AddsEnd == \A a \in Adders : pc[a] = "LockRead" ~> pc[a] \in {"UnlockRead", "Done"}

AdvancesEnd == \A v \in Advancers : pc[v] = "AwaitDue" ~> pc[v] \in {"Idle", "Done"}

CloseEnds == \A c \in Closers : <>(pc[c] = "Done")

EveryTaskIsSubmittedOrCancelled == \A k \in Tasks : Waiting(k) ~> ~Waiting(k) \/ closed

\* What was refused runs, unless it is cancelled, if the executor takes it one day (6.2.4).
WhatWasRefusedIsSubmitted ==
    \A k \in Tasks : state[k] = "refused" ~> state[k] \in {"submitted", "cancelled"} \/ closed

\* close() ends the loop of a reaper.
AdvancersEndAfterClose == \A v \in Advancers : closed ~> pc[v] = "Done"

-----------------------------------------------------------------------------
(* Refinement: binding is the abstract add; its delay counts from that moment *)

AddsOf(k) ==
    Cardinality({<<a, i>> \in UNION {{a} \X DOMAIN Program[a] : a \in Adders} :
        /\ Program[a][i] = k
        /\ \/ i < step[a]
           \/ i = step[a] /\ pc[a] \notin {"LockRead", "Refuse", "ReadClock", "Bind"}})

\* A task that was claimed and refused waits, and an add that raises ends as a cancel does.
IsInTheTimer(k) == Waiting(k) \/ state[k] = "claimed"

AbstractTimer == INSTANCE Timer WITH
    Delays <- Reach,
    state <- [k \in Tasks |->
        IF IsInTheTimer(k)
        THEN "waiting"
        ELSE IF state[k] = "withdrawn" THEN "cancelled" ELSE state[k]],
    due <- [k \in Tasks |-> IF IsInTheTimer(k) THEN Due(k) ELSE 0],
    adds <- [k \in Tasks |-> AddsOf(k)],
    outcomes <- [k \in Tasks |-> AddsOf(k) - (IF IsInTheTimer(k) THEN 1 ELSE 0)]

\* Without the abstract timer's promise to go on, which ends when the timer is closed.
RefinesTimer == AbstractTimer!Init /\ [][AbstractTimer!Next]_(AbstractTimer!vars)

THEOREM Spec => RefinesTimer
=============================================================================
