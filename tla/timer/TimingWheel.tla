---------------------------- MODULE TimingWheel ----------------------------
(***************************************************************************)
(* Hierarchical timing wheels driven by a delay queue, used by one thread. *)
(*                                                                         *)
(* Source.       standard 1.1 - 1.9, 1.12, 1.14, 1.18, as corrected in     *)
(*               the reference (packages timing_wheel, timer_task_list,    *)
(*               system_timer): a wheel of one bucket gets two.            *)
(* Kafka.        SystemTimer.addTimerTaskEntry; TimingWheel: add,          *)
(*               addOverflowWheel, advanceClock; TimerTaskList: add,       *)
(*               remove, flush, setExpiration.                             *)
(* Abstraction.  One thread adds, cancels and advances; it owns all locks, *)
(*               so entries are left behind by no race (1.11).  Submitting *)
(*               stands for handing over to the executor.  An advance that *)
(*               finds nothing due changes nothing and is no step.         *)
(* Atomicity.    add is one step (clock read, bind, insert), and a second  *)
(*               one if the task is due at once; cancel is one step.  An   *)
(*               advance is a sequence of steps: AwaitDue, then for each   *)
(*               bucket Poll, AdvanceClock, one FlushEntry for each entry, *)
(*               FlushDone, and at the end EndAdvance.  The clock goes on  *)
(*               between any two steps.                                    *)
(*                                                                         *)
(* Refines Timer: fate is its state, and a deadline rounded down its due   *)
(* time.                                                                   *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    Tasks,      \* the tasks
    Delays,     \* the delays with which tasks are added, in milliseconds; may be negative
    TickMs,     \* the tick of level 0, in milliseconds
    WheelSize   \* the number of buckets a level that was asked for

ASSUME TickMs \in Nat \ {0}
ASSUME WheelSize \in Nat \ {0}

VARIABLES
    now,        \* what the clock shows, in milliseconds
    \* The wheels.  Levels are made on demand: these are functions on 0 .. the highest level.
    current,    \* level -> the wheel's own clock, in milliseconds
    expiration, \* level -> index -> when the bucket expires, in milliseconds; Idle if it does not
    entries,    \* level -> index -> the bucket's entries, the head first
    queue,      \* the delay queue: buckets as they were offered, ordered by key
    counter,    \* how many entries are linked, by the timer's own count
    bound,      \* task -> the number of the entry that it is bound to; 0 = none
    \* The thread.
    phase,      \* where it is: one of Phases
    taken,      \* the bucket that it took from the queue: <<level, index>>; <<>> = none
    rejected,   \* the entry that the wheel did not take because it is due at once; <<>> = none
    \* What callers see; nothing above depends on it, but that entries are numbered by adds.
    deadline,   \* task -> when its last add asked it to run, in milliseconds; 0 unless it waits
    fate,       \* task -> "idle", "waiting", "submitted" or "cancelled"
    adds,       \* task -> how often it has been added
    outcomes    \* task -> how many of its adds have ended: submitted, cancelled or replaced

wheels == <<current, expiration, entries, queue, counter>>
thread == <<phase, taken, rejected>>
callers == <<deadline, fate, adds, outcomes>>
vars == <<now, wheels, bound, thread, callers>>

Phases == {"outside", "submitting", "polling", "advancing", "flushing"}

Idle == -1

-----------------------------------------------------------------------------
(* Arithmetic (1.3, 1.4, 1.8) *)

Truncate(time, tick) == (time \div tick) * tick

\* A wheel of one bucket spans only the tick that has begun and could hold nothing.
Buckets == IF WheelSize = 1 THEN 2 ELSE WheelSize

TickOf(l) == TickMs * Buckets ^ l

IntervalOf(l) == TickOf(l) * Buckets

VirtualId(time, l) == time \div TickOf(l)

BucketIndex(id) == id % Buckets

Levels == DOMAIN current

Indices == 0 .. Buckets - 1

\* The clock of level l, which starts where the level below stands if it is made now.
RECURSIVE Clock(_)
Clock(l) == IF l \in Levels THEN current[l] ELSE Truncate(Clock(l - 1), TickOf(l))

AlreadyExpired(time, l) == time < Clock(l) + TickOf(l)

WithinInterval(time, l) == time < Clock(l) + IntervalOf(l)

Expired == -1

\* The level that takes in an entry, asked from level l upwards; Expired if none does.
RECURSIVE LevelFor(_, _)
LevelFor(time, l) ==
    IF AlreadyExpired(time, l) THEN Expired
    ELSE IF WithinInterval(time, l) THEN l
    ELSE LevelFor(time, l + 1)

-----------------------------------------------------------------------------
(* Entries, buckets, the queue *)

\* One add of a task.  The number tells the entries of a task apart.
Entry(t, number, time) == [task |-> t, number |-> number, expiration |-> time]

Cancelled(e) == bound[e.task] # e.number

\* The lists without the entry that t is bound to.
Without(t) ==
    [l \in Levels |-> [i \in Indices |->
        SelectSeq(entries[l][i], LAMBDA e : e.task # t \/ e.number # bound[t])]]

Linked(list, e) == Append(list, e)

\* Ordered by key alone: among equals nothing is promised.
Offer(q, l, i, key) ==
    LET ahead == Cardinality({k \in DOMAIN q : q[k].key <= key})
    IN  SubSeq(q, 1, ahead) \o <<[level |-> l, index |-> i, key |-> key]>>
        \o SubSeq(q, ahead + 1, Len(q))

Queued(l, i) == \E k \in DOMAIN queue : queue[k].level = l /\ queue[k].index = i

HeadIsDue == queue # <<>> /\ queue[1].key <= now

MayTake(k) == queue[k].key = queue[1].key

\* When the bucket of level l that takes in e expires.
KeyFor(e, l) == VirtualId(e.expiration, l) * TickOf(l)

\* Only the first entry of a round offers the bucket.
Offers(l, i, key) == expiration[l][i] # key

\* A function on levels, extended up to level `top` by `new` at each level.
Extended(levels, top, new(_)) ==
    [l \in Levels \cup 0 .. top |-> IF l \in Levels THEN levels[l] ELSE new(l)]

\* wheel.add of an entry that is not expired: `lists` is what is linked without it.
Insert(e, lists) ==
    LET l == LevelFor(e.expiration, 0)
        i == BucketIndex(VirtualId(e.expiration, l))
        key == KeyFor(e, l)
        empty(level) == [index \in Indices |-> <<>>]
        idle(level) == [index \in Indices |-> Idle]
    IN  /\ current' = Extended(current, l, Clock)
        /\ entries' = [Extended(lists, l, empty) EXCEPT ![l][i] = Linked(@, e)]
        /\ expiration' = [Extended(expiration, l, idle) EXCEPT ![l][i] = key]
        /\ queue' = IF l \notin Levels \/ Offers(l, i, key) THEN Offer(queue, l, i, key) ELSE queue

\* The add of t ends.
End(t, outcome) ==
    /\ bound' = [bound EXCEPT ![t] = 0]
    /\ deadline' = [deadline EXCEPT ![t] = 0]
    /\ fate' = [fate EXCEPT ![t] = outcome]
    /\ outcomes' = [outcomes EXCEPT ![t] = @ + 1]
    /\ UNCHANGED adds

-----------------------------------------------------------------------------

Init ==
    /\ now = 0
    /\ current = [l \in {0} |-> 0]
    /\ expiration = [l \in {0} |-> [i \in Indices |-> Idle]]
    /\ entries = [l \in {0} |-> [i \in Indices |-> <<>>]]
    /\ queue = <<>>
    /\ counter = 0
    /\ bound = [t \in Tasks |-> 0]
    /\ phase = "outside"
    /\ taken = <<>>
    /\ rejected = <<>>
    /\ deadline = [t \in Tasks |-> 0]
    /\ fate = [t \in Tasks |-> "idle"]
    /\ adds = [t \in Tasks |-> 0]
    /\ outcomes = [t \in Tasks |-> 0]

Tick ==
    /\ now' = now + 1
    /\ UNCHANGED <<wheels, bound, thread, callers>>

(* add (1.2, 1.3, 1.12) *)

NumberOfNext(t) == adds[t] + 1

OlderRemoved(t) == Without(t)

Add(t, d) ==
    LET e == Entry(t, NumberOfNext(t), now + d)
        removed == IF bound[t] = 0 THEN 0 ELSE 1
    IN  /\ phase = "outside"
        /\ bound' = [bound EXCEPT ![t] = e.number]
        /\ deadline' = [deadline EXCEPT ![t] = e.expiration]
        /\ fate' = [fate EXCEPT ![t] = "waiting"]
        /\ adds' = [adds EXCEPT ![t] = @ + 1]
        /\ outcomes' = [outcomes EXCEPT ![t] = @ + removed]
        /\ IF LevelFor(e.expiration, 0) = Expired
           THEN /\ phase' = "submitting"
                /\ rejected' = <<e>>
                /\ entries' = OlderRemoved(t)
                /\ counter' = counter - removed
                /\ UNCHANGED <<current, expiration, queue>>
           ELSE /\ Insert(e, OlderRemoved(t))
                /\ counter' = counter - removed + 1
                /\ UNCHANGED <<phase, rejected>>
        /\ UNCHANGED <<now, taken>>

\* The wheel's clock has reached the tick of the task: it never gets into a bucket.
SubmitAtOnce ==
    /\ phase = "submitting"
    /\ phase' = "outside"
    /\ rejected' = <<>>
    /\ End(rejected[1].task, "submitted")
    /\ UNCHANGED <<now, wheels, taken>>

(* cancel (1.10) *)

CancelRemoved(t) == Without(t)

\* cancel() that returns TRUE.
Cancel(t) ==
    /\ phase = "outside"
    /\ bound[t] # 0
    /\ entries' = CancelRemoved(t)
    /\ counter' = counter - 1
    /\ End(t, "cancelled")
    /\ UNCHANGED <<now, current, expiration, queue, thread>>

\* cancel() that returns FALSE; see CancelInVain of Timer.
CancelInVain(t) ==
    /\ phase = "outside"
    /\ bound[t] = 0
    /\ UNCHANGED vars

(* advance_clock (1.4 - 1.6) *)

\* Whether an advance may begin; a model may have all adds first.
MayAdvance == TRUE

AwaitDue ==
    /\ phase = "outside"
    /\ MayAdvance
    /\ HeadIsDue
    /\ phase' = "polling"
    /\ UNCHANGED <<now, wheels, bound, taken, rejected, callers>>

\* The k-th element of the queue is taken.
PollOf(k) ==
    /\ phase = "polling"
    /\ HeadIsDue
    /\ MayTake(k)
    /\ queue' = SubSeq(queue, 1, k - 1) \o SubSeq(queue, k + 1, Len(queue))
    /\ taken' = <<queue[k].level, queue[k].index>>
    /\ phase' = "advancing"
    /\ UNCHANGED <<now, current, expiration, entries, counter, bound, rejected, callers>>

Moved(l, time) ==
    IF time >= current[l] + TickOf(l) THEN Truncate(time, TickOf(l)) ELSE current[l]

\* Each level hands what its clock then shows to the one above.
RECURSIVE ClockAfter(_, _)
ClockAfter(l, time) == Moved(l, IF l = 0 THEN time ELSE ClockAfter(l - 1, time))

TakenExpiration == expiration[taken[1]][taken[2]]

AdvanceTarget == TakenExpiration

AdvanceClock ==
    /\ phase = "advancing"
    /\ current' = [l \in Levels |-> ClockAfter(l, AdvanceTarget)]
    /\ phase' = "flushing"
    /\ UNCHANGED <<now, expiration, entries, queue, counter, bound, taken, rejected, callers>>

TakenEntries == entries[taken[1]][taken[2]]

NextEntry == Head(TakenEntries)

HeadRemoved == [entries EXCEPT ![taken[1]][taken[2]] = Tail(@)]

\* The head is removed, then inserted again from level 0, or submitted, or dropped if cancelled.
FlushEntry ==
    /\ phase = "flushing"
    /\ TakenEntries # <<>>
    /\ LET e == NextEntry
       IN  IF Cancelled(e) THEN
               /\ entries' = HeadRemoved
               /\ counter' = counter - 1
               /\ UNCHANGED <<current, expiration, queue, bound, callers>>
           ELSE IF LevelFor(e.expiration, 0) = Expired THEN
               /\ entries' = HeadRemoved
               /\ counter' = counter - 1
               /\ End(e.task, "submitted")
               /\ UNCHANGED <<current, expiration, queue>>
           ELSE
               /\ Insert(e, HeadRemoved)
               /\ UNCHANGED <<counter, bound, callers>>
    /\ UNCHANGED <<now, thread>>

FlushDone ==
    /\ phase = "flushing"
    /\ TakenEntries = <<>>
    /\ expiration' = [expiration EXCEPT ![taken[1]][taken[2]] = Idle]
    /\ taken' = <<>>
    /\ phase' = "polling"
    /\ UNCHANGED <<now, current, entries, queue, counter, bound, rejected, callers>>

NothingMoreToTake == ~HeadIsDue

EndAdvance ==
    /\ phase = "polling"
    /\ NothingMoreToTake
    /\ phase' = "outside"
    /\ UNCHANGED <<now, wheels, bound, taken, rejected, callers>>

Poll == \E k \in DOMAIN queue : PollOf(k)

Advance == AwaitDue \/ Poll \/ AdvanceClock \/ FlushEntry \/ FlushDone \/ EndAdvance

Next ==
    \/ \E t \in Tasks, d \in Delays : Add(t, d)
    \/ SubmitAtOnce
    \/ \E t \in Tasks : Cancel(t)
    \/ \E t \in Tasks : CancelInVain(t)
    \/ AwaitDue
    \/ Poll
    \/ AdvanceClock
    \/ FlushEntry
    \/ FlushDone
    \/ EndAdvance
    \/ Tick

\* The clock goes on; the thread finishes what it began, and advances again and again.
Fairness ==
    /\ WF_vars(Tick)
    /\ WF_vars(SubmitAtOnce)
    /\ WF_vars(Advance)

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Invariants (1.18) *)

AllBuckets == Levels \X Indices

EntriesOf(b) == entries[b[1]][b[2]]

ExpirationOf(b) == expiration[b[1]][b[2]]

\* Every place at which an entry is linked: bucket and position.
Places == UNION {{<<b, k>> : k \in DOMAIN EntriesOf(b)} : b \in AllBuckets}

EntryAt(place) == EntriesOf(place[1])[place[2]]

Waiting(t) == fate[t] = "waiting"

Due(t) == IF Waiting(t) THEN Truncate(deadline[t], TickMs) ELSE 0

TypeOK ==
    /\ now \in Nat
    /\ Levels = 0 .. Cardinality(Levels) - 1
    /\ \A l \in Levels : current[l] \in Nat
    /\ DOMAIN expiration = Levels /\ DOMAIN entries = Levels
    /\ \A l \in Levels : DOMAIN expiration[l] = Indices /\ DOMAIN entries[l] = Indices
    /\ \A b \in AllBuckets : ExpirationOf(b) \in Nat \cup {Idle}
    /\ \A place \in Places :
        LET e == EntryAt(place)
        IN  e.task \in Tasks /\ e.number \in 1 .. adds[e.task] /\ e.expiration \in Int
    /\ \A k \in DOMAIN queue : <<queue[k].level, queue[k].index>> \in AllBuckets
    /\ counter \in Nat
    /\ bound \in [Tasks -> Nat]
    /\ phase \in Phases
    /\ taken \in AllBuckets \cup {<<>>}
    /\ (taken # <<>>) = (phase \in {"advancing", "flushing"})
    /\ (rejected # <<>>) = (phase = "submitting")
    /\ deadline \in [Tasks -> Int]
    /\ fate \in [Tasks -> {"idle", "waiting", "submitted", "cancelled"}]
    /\ adds \in [Tasks -> Nat]
    /\ outcomes \in [Tasks -> Nat]

EntryInOneListAtMost == \A p, q \in Places : EntryAt(p) = EntryAt(q) => p = q

CounterEqualsLinkedEntries == counter = Cardinality(Places)

\* size() is the number of tasks that wait; by one thread nothing is left behind (1.11, 1.14).
SizeIsTheNumberOfWaitingTasks ==
    counter = Cardinality({t \in Tasks : Waiting(t)}) - Len(rejected)

NoCancelledEntryIsLinked == \A place \in Places : ~Cancelled(EntryAt(place))

NonEmptyBucketIsQueued ==
    \A b \in AllBuckets : EntriesOf(b) # <<>> => Queued(b[1], b[2]) \/ taken = b

\* A bucket that expires is queued or being flushed, and no other is.
BucketExpiresIffQueuedOrTaken ==
    \A b \in AllBuckets : (ExpirationOf(b) # Idle) = (Queued(b[1], b[2]) \/ taken = b)

QueueHoldsABucketOnce ==
    \A j, k \in DOMAIN queue :
        queue[j].level = queue[k].level /\ queue[j].index = queue[k].index => j = k

EntriesOfABucketShareOneVirtualId ==
    \A b \in AllBuckets : \A k \in DOMAIN EntriesOf(b) :
        VirtualId(EntriesOf(b)[k].expiration, b[1]) * TickOf(b[1]) = ExpirationOf(b)

QueuedKeyIsTheExpirationOfItsBucket ==
    \A k \in DOMAIN queue : queue[k].key = expiration[queue[k].level][queue[k].index]

WheelClocksAgree == \A l \in Levels : current[l] = Truncate(current[0], TickOf(l))

WheelClockIsNotAheadOfTime == current[0] <= now

\* The wheel's clock never passes a bucket that is still queued.
NoQueuedBucketIsBehindTheWheelClock == \A k \in DOMAIN queue : queue[k].key >= current[0]

BucketsAreTakenInOrderOfExpiration ==
    taken # <<>> => \A k \in DOMAIN queue : TakenExpiration <= queue[k].key

\* Why a flush ends: nothing goes back into the bucket that is being flushed, or further up.
FlushSendsEntriesDown ==
    phase = "flushing" /\ TakenEntries # <<>> =>
        LevelFor(Head(TakenEntries).expiration, 0) < taken[1]

\* An advance that finds nothing due is right to do nothing.
QueueKnowsWhatIsDue ==
    phase = "outside" => \A t \in Tasks : Waiting(t) /\ Due(t) <= now => HeadIsDue

\* Each add ends in exactly one submission, cancellation or replacement.
EachAddHasOneOutcome ==
    \A t \in Tasks : adds[t] = outcomes[t] + (IF Waiting(t) THEN 1 ELSE 0)

(* Action properties *)

WheelClockNeverGoesBack == [][\A l \in Levels : current'[l] >= current[l]]_vars

KeyOfAQueuedBucketNeverChanges ==
    [][\A b \in AllBuckets :
        Queued(b[1], b[2]) => expiration'[b[1]][b[2]] = expiration[b[1]][b[2]]]_vars

Submits(t) == fate[t] = "waiting" /\ fate'[t] = "submitted"

\* Early by less than one tick, and never in any other sense (1.8).
NeverEarlyByATick == [][\A t \in Tasks : Submits(t) => now > deadline[t] - TickMs]_vars

DueTimesAreNeverOvertaken ==
    [][\A t, u \in Tasks : Submits(t) /\ Waiting(u) => Due(t) <= Due(u)]_vars

\* Entries are linked at the tail and leave in that order, unless they are removed before (1.9).
BucketsKeepTheOrderOfLinking ==
    [][\A b \in AllBuckets :
        LET before == EntriesOf(b)
            after == entries'[b[1]][b[2]]
            place(e) == CHOOSE k \in DOMAIN before : before[k] = e
            IsOld(e) == \E k \in DOMAIN before : before[k] = e
        IN  \A j, k \in DOMAIN after :
                j < k /\ IsOld(after[k]) => IsOld(after[j]) /\ place(after[j]) < place(after[k])]_vars

\* Whatever is due when an advance ends has been submitted: so a task is submitted by the end of
\* the first advance that starts after its add has returned and at or after its due time.
AdvanceSubmitsAllThatIsDue ==
    [][phase = "polling" /\ phase' = "outside" =>
        \A t \in Tasks : Waiting(t) => Due(t) > now]_vars

\* An advance begins with something that is due, and an add is none (1.5).
AdvanceBeginsWithWhatIsDue ==
    [][phase # "polling" /\ phase' = "polling" =>
        phase = "flushing" \/ (phase = "outside" /\ HeadIsDue)]_vars

(* Liveness; EveryTaskIsSubmittedOrCancelled as in Timer, where adds do not go on for ever *)

FlushEnds == phase = "flushing" ~> phase # "flushing"

AdvanceEnds == phase = "polling" ~> phase = "outside"

EveryTaskIsSubmittedOrCancelled ==
    \A t \in Tasks : Waiting(t) ~> fate[t] \in {"submitted", "cancelled"}

(* Refinement *)

Abstract == INSTANCE Timer WITH due <- [t \in Tasks |-> Due(t)], state <- fate

THEOREM Spec => Abstract!Spec
=============================================================================
