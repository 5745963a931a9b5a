----------------------- MODULE MCRecordAccumulator_bugs -----------------------
(* What replaces an operator of RecordAccumulator to bring a mistake into it.  The manifest names
   the operator that it replaces and the property that must break. *)
EXTENDS MCRecordAccumulator

\* KAFKA-3147: what is aborted stays in its queue as it is.
AbortInPlace ==
    /\ sender = "AbortBatch"
    /\ hand' = Head(left)
    /\ left' = Tail(left)
    /\ sender' = "AbortEnd"
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, client, lastRound, drain, history>>

\* The end of an aborted batch that nobody has closed.
EndInPlace(b, final) ==
    /\ batch' = [batch EXCEPT ![b].final = final]
    /\ outcomes' = [r \in Records |->
            outcomes[r] + Cardinality({i \in DOMAIN batch[b].records : batch[b].records[i] = r})]

\* The second phase of an append does not ask whether the accumulator has been closed.
TestClosedAtFirstAlone(a) ==
    /\ pc[a] \in {"TestFirst", "TestAgain"}
    /\ MonitorIsFree(Partition(a))
    /\ Go(a, CASE pc[a] = "TestFirst" -> IF closed THEN "EndAppend" ELSE "TryAppend"
               [] pc[a] = "TestAgain" -> "AppendNew")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, round, buffer, taken, awaited, sender, work, drain, history>>

\* An append gives the monitor back between the test and what follows it.
NobodyKeepsTheMonitor(p) == TRUE

\* KAFKA-3655: an interrupted flush is counted for ever.
FlushInterruptedAndCounted(f) ==
    /\ pc[f] = "AwaitFlush"
    /\ f \in Interrupted
    /\ awaited' = [awaited EXCEPT ![f] = {}]
    /\ promised' = [promised EXCEPT ![f] = {}]
    /\ Go(f, "Done")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, round, buffer, taken, sender, work, drain, outcomes, returned>>

\* KAFKA-4741: a buffer that was not used is not given back.
KeepTheBuffer(a) ==
    /\ pc[a] = "GiveBack"
    /\ buffer' = [buffer EXCEPT ![a] = None]
    /\ Go(a, "EndAppend")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, round, taken, awaited, sender, work, drain, history>>

\* KAFKA-9312: a batch that was split is done at the split.
DoneAtTheSplit(b) == batch[b].final # None

\* KAFKA-19012: the memory of a batch goes back at its end, whoever may be reading it.
ReturnAtOnce(b) ==
    /\ free' = free \cup ({batch[b].memory} \ {None})
    /\ UNCHANGED batch

\* KAFKA-8202: a batch that was split stays in flight, as if it had not ended.
SplitInAir(b) ==
    LET n == Len(batch[b].records)
        made == [i \in 1..n |->
            NewBatch(batch[b].partition, <<batch[b].records[i]>>, None, FALSE)]
        numbers == [i \in 1..n |-> Len(batch) + i]
    IN
    /\ MaySplit
    /\ Answered(b)
    /\ batch[b].final = None
    /\ n > 1
    /\ batch' = [batch EXCEPT ![b].children = Range(numbers)] \o made
    /\ sender' = "EnqueueChild"
    /\ hand' = b
    /\ left' = numbers
    /\ UNCHANGED <<queue, incomplete, inAir, free, closed, poolClosed, forced, appending, flushes,
                   client, lastRound, drain, history>>

\* Every drain begins at the first partition.
FirstIndex == IF visited = 0 THEN 0 ELSE (drainIndex + 1) % Partitions

\* What is drained is not closed.
LeaveOpen(b) == batch

\* A batch is tried again while its request is still under way.
ReenqueueTwice(b) ==
    /\ Answered(b)
    /\ batch[b].final = None
    /\ batch[b].attempts < MaxAttempts
    /\ batch' = [batch EXCEPT ![b].attempts = @ + 1]
    /\ queue' = [queue EXCEPT ![batch[b].partition] = <<b>> \o @]
    /\ UNCHANGED <<incomplete, inAir, free, closed, poolClosed, forced, appending, flushes, client,
                   sender, work, drain, history>>

\* A response ends what has ended before.
CompleteAgain(b) ==
    /\ Answered(b)
    /\ batch[b].final # None
    /\ inAir' = inAir \ {b}
    /\ End(b, "succeeded")
    /\ free' = free \cup ({batch[b].memory} \ {None})
    /\ UNCHANGED <<queue, incomplete, closed, poolClosed, forced, appending, flushes, client,
                   sender, work, drain, returned, promised>>

\* An abort ends with its first round, whoever appends.
AbortOnce ==
    /\ sender = "AbortAwait"
    /\ sender' = "Done"
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, client, work, drain, history>>

\* A flush is counted once and uncounted twice.
AwaitFlushTwice(f) ==
    /\ pc[f] = "AwaitFlush"
    /\ \A b \in awaited[f] : AllDone(b)
    /\ flushes' = flushes - 2
    /\ awaited' = [awaited EXCEPT ![f] = {}]
    /\ Go(f, "Done")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   round, buffer, taken, sender, work, drain, history>>

\* A flush hurries nobody: its batches linger on.
FlushUncounted(f) ==
    /\ pc[f] = "BeginFlush"
    /\ promised' = [promised EXCEPT ![f] = returned]
    /\ Go(f, "LookAtIncomplete")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, round, buffer, taken, awaited, sender, work, drain, outcomes, returned>>

AwaitUncounted(f) ==
    /\ pc[f] = "AwaitFlush"
    /\ \A b \in awaited[f] : AllDone(b)
    /\ awaited' = [awaited EXCEPT ![f] = {}]
    /\ Go(f, "Done")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, round, buffer, taken, sender, work, drain, history>>

\* Memory that is exhausted makes nobody ready: the appender waits for a batch that lingers.
NeverExhausted == FALSE

\* An abort goes on as long as somebody appends, and begins again when nobody does.
AbortForEver ==
    /\ sender = "AbortAwait"
    /\ sender' = "AbortRound"
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, client, work, drain, history>>

\* What has expired is told to nobody.
ExpireInSilence ==
    /\ sender = "Expire"
    /\ batch' = [batch EXCEPT ![hand].final = "expired"]
    /\ sender' = "Forget"
    /\ UNCHANGED <<queue, incomplete, inAir, free, closed, poolClosed, forced, appending, flushes,
                   client, work, drain, history>>

\* The newest batch of a partition is sent first.
DrainTheLast ==
    LET p == NextIndex IN
    /\ sender = "Drain"
    /\ drainIndex' = p
    /\ IF HasWork(p) /\ room > 0
       THEN /\ queue' = [queue EXCEPT ![p] = SubSeq(@, 1, Len(@) - 1)]
            /\ batch' = Closing(Last(p))
            /\ inAir' = inAir \cup {Last(p)}
            /\ room' = room - 1
            /\ hungry' = hungry \ {p}
            /\ sender' = IF visited + 1 < Partitions THEN "Drain" ELSE "EndDrain"
       ELSE /\ sender' = IF visited + 1 < Partitions /\ ~HasWork(p) THEN "Drain" ELSE "EndDrain"
            /\ UNCHANGED <<queue, batch, inAir, room, hungry>>
    /\ visited' = visited + 1
    /\ UNCHANGED <<incomplete, free, closed, poolClosed, forced, appending, flushes, client, work,
                   passedOver, history>>

HasWorkThoughMuted(p) == queue[p] # <<>>

\* The children of a split are put at the head in their order, so that the last one comes first.
EnqueueInReverse ==
    LET b == Head(left) IN
    /\ sender = "EnqueueChild"
    /\ incomplete' = incomplete \cup {b}
    /\ queue' = [queue EXCEPT ![batch[b].partition] = <<b>> \o @]
    /\ left' = Tail(left)
    /\ sender' = IF Len(left) = 1 THEN "Forget" ELSE "EnqueueChild"
    /\ UNCHANGED <<batch, inAir, free, closed, poolClosed, forced, appending, flushes, client, hand,
                   lastRound, drain, history>>

\* Of the children of a split only the first is put back.
EnqueueTheFirstAlone ==
    LET b == Head(left) IN
    /\ sender = "EnqueueChild"
    /\ incomplete' = incomplete \cup {b}
    /\ queue' = [queue EXCEPT ![batch[b].partition] = <<b>> \o @]
    /\ left' = <<>>
    /\ sender' = "Forget"
    /\ UNCHANGED <<batch, inAir, free, closed, poolClosed, forced, appending, flushes, client, hand,
                   lastRound, drain, history>>

\* A flush waits for an answer to the batch that was split, which never comes.
AnsweredItself(b) == batch[b].final \notin {None, "split"}

\* Kafka's own: what is queued expires before what is in the air.
ExpiresAtAnyTime(b) == TRUE

\* Kafka's own: who looks for late batches looks no further than to the first that is not late.
FoundAtTheHead(p) == IF queue[p] = <<>> THEN {} ELSE {Head(queue[p])}

\* Batches come in the order of their making, also those that a split has made.
MadeBefore(b, c) == b < c

\* The newest batch is aborted first.
RECURSIVE InReverse(_)
InReverse(numbers) ==
    IF numbers = {}
    THEN <<>>
    ELSE LET first == CHOOSE one \in numbers : \A other \in numbers : ~Precedes(one, other)
         IN  <<first>> \o InReverse(numbers \ {first})

\* Nobody counts how often a batch is tried again.
ReenqueueAgain(b) ==
    /\ Answered(b)
    /\ batch[b].final = None
    /\ inAir' = inAir \ {b}
    /\ batch' = [batch EXCEPT ![b].attempts = @ + 1]
    /\ queue' = [queue EXCEPT ![batch[b].partition] = <<b>> \o @]
    /\ UNCHANGED <<incomplete, free, closed, poolClosed, forced, appending, flushes, client, sender,
                   work, drain, history>>

\* The next drain goes on counting where this one has stopped.
EndDrainUncounted ==
    /\ sender' = "Idle"
    /\ room' = 0
    /\ hungry' = {}
    /\ passedOver' = [p \in AllPartitions |-> IF p \in hungry THEN passedOver[p] + 1 ELSE 0]
    /\ UNCHANGED visited

\* What is answered counts as in the air still.
CompleteInTheAir(b) ==
    /\ Answered(b)
    /\ batch[b].final = None
    /\ End(b, "succeeded")
    /\ sender' = "Forget"
    /\ hand' = b
    /\ UNCHANGED <<queue, incomplete, inAir, free, closed, poolClosed, forced, appending, flushes,
                   client, left, lastRound, drain, returned, promised>>

\* A record is added to a batch, and its appender is told that it was not taken.
AddToLastAndDenyIt(a, then, otherwise) ==
    LET p == Partition(a) IN
    /\ IF queue[p] # <<>> /\ HasRoom(Last(p))
       THEN /\ batch' = [batch EXCEPT ![Last(p)].records = Append(@, Record(a))]
            /\ Go(a, then)
       ELSE /\ batch' = IF queue[p] = <<>> THEN batch ELSE Closing(Last(p))
            /\ Go(a, otherwise)
    /\ UNCHANGED taken

\* What is aborted is told that it was late.
AbortAsLate ==
    /\ sender = "AbortEnd"
    /\ End(hand, "expired")
    /\ sender' = "Forget"
    /\ UNCHANGED <<queue, incomplete, inAir, free, closed, poolClosed, forced, appending, flushes,
                   client, work, drain, returned, promised>>

\* Whoever will not wait for memory takes none.
AllocateFailsAnyway(a) ==
    /\ pc[a] = "Allocate"
    /\ a \in Impatient
    /\ Go(a, "EndAppend")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, round, buffer, taken, awaited, sender, work, drain, history>>

\* A closed pool gives memory, if it has some.
AllocateAnyway(a) ==
    /\ pc[a] = "Allocate"
    /\ \E one \in free :
        /\ free' = free \ {one}
        /\ buffer' = [buffer EXCEPT ![a] = one]
    /\ Go(a, "TestAgain")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, closed, poolClosed, forced, appending, flushes,
                   round, taken, awaited, sender, work, drain, history>>

\* A batch that may linger is sent at once.
ReadyAtOnce(p) == HasWork(p)

\* An append that raises does not give its buffer back.
AppendRaisesWithTheBuffer(a) ==
    /\ pc[a] = "AppendNew"
    /\ Go(a, "EndAppend")
    /\ buffer' = [buffer EXCEPT ![a] = None]
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, round, taken, awaited, sender, work, drain, history>>

\* An append that raises stays counted as one under way.
AllocateRaisesAndStays(a) ==
    /\ pc[a] = "Allocate"
    /\ Go(a, "Done")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, round, buffer, taken, awaited, sender, work, drain, history>>

\* The last round of an abort leaves its youngest batch out.
AbortLeavesOneOut ==
    LET all == InOrder(incomplete)
        found == IF lastRound /\ all # <<>> THEN SubSeq(all, 1, Len(all) - 1) ELSE all
    IN
    /\ \/ sender = "Idle" /\ forced
       \/ sender = "AbortRound"
    /\ left' = found
    /\ sender' = IF found = <<>> THEN "AbortAwait" ELSE "AbortBatch"
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, client, hand, lastRound, drain, history>>

\* What is full is ready, and what somebody wants, but not what was closed; or not what is flushed.
IsReadyBut(p, hurried) ==
    /\ HasWork(p)
    /\ \/ ~Lingers
       \/ Len(queue[p]) > 1 \/ ~HasRoom(Head(queue[p]))
       \/ Exhausted \/ hurried

CloseHurriesNobody(p) == IsReadyBut(p, flushes > 0)

FlushHurriesNobody(p) == IsReadyBut(p, closed)

\* An append takes the monitor though another one has it.
TestClosedTogether(a) ==
    /\ pc[a] \in {"TestFirst", "TestAgain"}
    /\ Go(a, CASE pc[a] = "TestFirst" -> IF closed THEN "EndAppend" ELSE "TryAppend"
               [] pc[a] = "TestAgain" -> IF closed THEN "GiveBack" ELSE "AppendNew")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, round, buffer, taken, awaited, sender, work, drain, history>>
=============================================================================
