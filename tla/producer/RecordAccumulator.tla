-------------------------- MODULE RecordAccumulator --------------------------
(***************************************************************************)
(* Where records wait for the sender: queues of batches, one a partition,  *)
(* in the buffers of a pool.                                               *)
(*                                                                         *)
(* Source.       standard 4, 6.6.2, 6.9.1; KAFKA-3147, 3655, 4741, 8202,   *)
(*               9312, 19012.                                              *)
(* Kafka.        RecordAccumulator: append, tryAppend, appendNewBatch,     *)
(*               ready, drain, reenqueue, splitAndReenqueue,               *)
(*               expiredBatches, beginFlush, awaitFlushCompletion,         *)
(*               abortIncompleteBatches, mutePartition; ProducerBatch;     *)
(*               IncompleteBatches.                                        *)
(* Abstraction.  A record takes one place of BatchSize in its batch, a     *)
(*               batch one buffer; a batch that was split has a child for  *)
(*               each record.  No clock: a batch may expire at any time,   *)
(*               and with Lingers a batch that is not full never becomes   *)
(*               ready by waiting.  Batches of a partition expire in the   *)
(*               order in which they were made.  One node leads all        *)
(*               partitions.  What the pool does is BufferPool's matter:   *)
(*               here it is a set.  Back-off is left out: it delays drains.*)
(*               So does muting, but who wants records in order mutes a    *)
(*               partition while it sends: a model says so by IsMuted.     *)
(* Atomicity.    One step for each hold of a queue's monitor, each change  *)
(*               of the set of incomplete batches, each allocation and     *)
(*               deallocation of a buffer, and the end of a batch with all *)
(*               its callbacks.  The sender is one thread.  An append that *)
(*               holds the monitor reads `closed` in a step of its own:    *)
(*               close() sets it without the monitor.                      *)
(* Faults.       For the appenders in Unlucky the pool may raise though it *)
(*               has memory, and so may what is done with the memory; of   *)
(*               a callback that raises nobody learns before the batch has *)
(*               ended, so the end of a batch stays one step.              *)
(* Fairness.     Weak, for each thread, but nobody is obliged to close, or *)
(*               to be interrupted.                                        *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences

CONSTANTS
    Appenders,      \* threads that append records
    Program,        \* appender -> the partitions of its records, one after another
    Impatient,      \* the appenders that may be out of time while they wait for memory
    Flushers,       \* threads that flush
    Interrupted,    \* the flushers that may be interrupted
    Closers,        \* threads that close the accumulator
    ByForce,        \* whether the sender aborts everything then
    Partitions,     \* how many partitions there are; they are 0, 1, ...
    Buffers,        \* the memory
    BatchSize,      \* how many records a batch has room for
    RequestSize,    \* how many batches one request has room for
    MaxAttempts,    \* how often a batch may be tried again
    MayExpire,      \* whether batches expire
    MaySplit,       \* whether the answer may be that a batch is too large
    Lingers,        \* whether a batch that is not full has to wait
    Unlucky,        \* the appenders for which an allocation, or what follows it, may raise
    None            \* nothing

ASSUME Partitions \in Nat \ {0}
ASSUME Program \in [Appenders -> Seq(0..(Partitions - 1)) \ {<<>>}]
ASSUME Unlucky \subseteq Appenders
ASSUME BatchSize \in Nat \ {0} /\ RequestSize \in Nat \ {0} /\ MaxAttempts \in Nat

VARIABLES
    queue,          \* partition -> its batches, by their numbers
    batch,          \* all batches that were ever made, by their numbers
    incomplete,     \* the batches that have not been forgotten
    inAir,          \* the batches whose request may be reading their buffer
    free,           \* the buffers of the pool
    closed,         \* whether records are refused
    poolClosed,     \* whether allocations are refused
    forced,         \* whether the sender has been told to abort
    appending,      \* who is appending
    flushes,        \* how many flushes are counted
    pc,             \* appender, flusher or closer -> its next step
    round,          \* appender -> which record of its program it is at
    buffer,         \* appender -> the buffer that it has allocated and not used
    taken,          \* appender -> whether its present record has been taken
    awaited,        \* flusher -> the batches that it waits for
    sender,         \* the sender's next step
    hand,           \* the batch that the sender deals with
    left,           \* the batches that the sender has still to deal with
    drainIndex,     \* the partition at which the last drain stopped
    visited,        \* how many partitions this drain has visited
    room,           \* how many batches the request has still room for
    lastRound,      \* whether this is the last round of an abort
    outcomes,       \* history: record -> how often it has been completed
    returned,       \* history: the records whose append has returned
    promised,       \* history: flusher -> the records whose append had returned when it began
    hungry,         \* history: the partitions that had a batch when the drain began
    passedOver      \* history: partition -> how many drains in a row have passed it over

client == <<pc, round, buffer, taken, awaited>>
drain == <<drainIndex, visited, room, hungry, passedOver>>
work == <<hand, left, lastRound>>
history == <<outcomes, returned, promised>>
vars == <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending, flushes,
          client, sender, work, drain, history>>

Threads == Appenders \cup Flushers \cup Closers
AllPartitions == 0..(Partitions - 1)
Records == UNION {{<<a, i>> : i \in DOMAIN Program[a]} : a \in Appenders}
Numbers == DOMAIN batch

Range(sequence) == {sequence[i] : i \in DOMAIN sequence}

Go(t, step) == pc' = [pc EXCEPT ![t] = step]

-----------------------------------------------------------------------------

Init ==
    /\ queue = [p \in AllPartitions |-> <<>>]
    /\ batch = <<>>
    /\ incomplete = {}
    /\ inAir = {}
    /\ free = Buffers
    /\ closed = FALSE
    /\ poolClosed = FALSE
    /\ forced = FALSE
    /\ appending = {}
    /\ flushes = 0
    /\ pc = [t \in Threads |->
            CASE t \in Appenders -> "BeginAppend"
              [] t \in Flushers -> "BeginFlush"
              [] t \in Closers -> "Close"]
    /\ round = [a \in Appenders |-> 1]
    /\ buffer = [a \in Appenders |-> None]
    /\ taken = [a \in Appenders |-> FALSE]
    /\ awaited = [f \in Flushers |-> {}]
    /\ sender = "Idle"
    /\ hand = None
    /\ left = <<>>
    /\ drainIndex = 0
    /\ visited = 0
    /\ room = 0
    /\ lastRound = FALSE
    /\ outcomes = [r \in Records |-> 0]
    /\ returned = {}
    /\ promised = [f \in Flushers |-> {}]
    /\ hungry = {}
    /\ passedOver = [p \in AllPartitions |-> 0]

-----------------------------------------------------------------------------
(* Batches *)

NewBatch(p, records, memory, open) ==
    [partition |-> p, records |-> records, open |-> open, final |-> None, memory |-> memory,
     attempts |-> 0, children |-> {}]

HasRoom(b) == batch[b].open /\ Len(batch[b].records) < BatchSize

Last(p) == queue[p][Len(queue[p])]

Without(sequence, b) == SelectSeq(sequence, LAMBDA one : one # b)

Closing(b) == [batch EXCEPT ![b].open = FALSE]

\* All callbacks of b, and its result: the end of b.
End(b, final) ==
    /\ batch' = [batch EXCEPT ![b].final = final, ![b].open = FALSE]
    /\ outcomes' = [r \in Records |->
            outcomes[r] + Cardinality({i \in DOMAIN batch[b].records : batch[b].records[i] = r})]

\* Whoever waits for b waits for those that it was split into (KAFKA-9312).
RECURSIVE AllDone(_)
AllDone(b) == batch[b].final # None /\ \A child \in batch[b].children : AllDone(child)

MayBeRead(b) == b \in inAir

Parents(b) == {c \in Numbers : b \in batch[c].children}

\* A batch comes where its number among its partition's says, a child where its parent came.
RECURSIVE Place(_)
Place(b) ==
    IF Parents(b) = {}
    THEN LET p == batch[b].partition
         IN  <<Cardinality({c \in 1..b : batch[c].partition = p /\ Parents(c) = {}})>>
    ELSE Append(Place(CHOOSE c \in Parents(b) : TRUE), b)

RECURSIVE IsBefore(_, _)
IsBefore(place, other) ==
    IF place = <<>> \/ other = <<>>
    THEN Len(place) < Len(other)
    ELSE \/ Head(place) < Head(other)
         \/ Head(place) = Head(other) /\ IsBefore(Tail(place), Tail(other))

\* Whether b comes before c in the order of appends, if they are of one partition.
Precedes(b, c) == IsBefore(Place(b), Place(c))

-----------------------------------------------------------------------------
(* append (4.1) *)

Partition(a) == Program[a][round[a]]
Record(a) == <<a, round[a]>>

BeginAppend(a) ==
    /\ pc[a] = "BeginAppend"
    /\ appending' = appending \cup {a}
    /\ Go(a, "TestFirst")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, flushes,
                   round, buffer, taken, awaited, sender, work, drain, history>>

\* Whoever has read that nothing is closed holds the monitor until it has done what it can.
MonitorIsFree(p) ==
    \A a \in Appenders : pc[a] \in {"TryAppend", "AppendNew"} => Partition(a) # p

\* Takes the monitor, and gives it back if the accumulator has been closed.
TestClosed(a) ==
    /\ pc[a] \in {"TestFirst", "TestAgain"}
    /\ MonitorIsFree(Partition(a))
    /\ Go(a, CASE pc[a] = "TestFirst" -> IF closed THEN "EndAppend" ELSE "TryAppend"
               [] pc[a] = "TestAgain" -> IF closed THEN "GiveBack" ELSE "AppendNew")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, round, buffer, taken, awaited, sender, work, drain, history>>

\* The last batch takes the record, or no more records.
AddToLast(a, then, otherwise) ==
    LET p == Partition(a) IN
    IF queue[p] # <<>> /\ HasRoom(Last(p))
    THEN /\ batch' = [batch EXCEPT ![Last(p)].records = Append(@, Record(a))]
         /\ taken' = [taken EXCEPT ![a] = TRUE]
         /\ Go(a, then)
    ELSE /\ batch' = IF queue[p] = <<>> THEN batch ELSE Closing(Last(p))
         /\ Go(a, otherwise)
         /\ UNCHANGED taken

TryAppend(a) ==
    /\ pc[a] = "TryAppend"
    /\ AddToLast(a, "EndAppend", "Allocate")
    /\ UNCHANGED <<queue, incomplete, inAir, free, closed, poolClosed, forced, appending, flushes,
                   round, buffer, awaited, sender, work, drain, history>>

\* Without the monitor: only the sender gives memory back.
Allocate(a) ==
    /\ pc[a] = "Allocate"
    /\ ~poolClosed
    /\ \E one \in free :
        /\ free' = free \ {one}
        /\ buffer' = [buffer EXCEPT ![a] = one]
    /\ Go(a, "TestAgain")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, closed, poolClosed, forced, appending, flushes,
                   round, taken, awaited, sender, work, drain, history>>

AllocateFails(a) ==
    /\ pc[a] = "Allocate"
    /\ \/ poolClosed
       \/ a \in Impatient /\ free = {}
    /\ Go(a, "EndAppend")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, round, buffer, taken, awaited, sender, work, drain, history>>

\* Another appender may have made a batch meanwhile.
AppendNew(a) ==
    LET p == Partition(a)
        number == Len(batch) + 1
    IN
    /\ pc[a] = "AppendNew"
    /\ IF queue[p] # <<>> /\ HasRoom(Last(p))
       THEN /\ AddToLast(a, "GiveBack", "GiveBack")
            /\ UNCHANGED <<queue, incomplete, buffer>>
       ELSE /\ batch' = Append(IF queue[p] = <<>> THEN batch ELSE Closing(Last(p)),
                               NewBatch(p, <<Record(a)>>, buffer[a], TRUE))
            /\ queue' = [queue EXCEPT ![p] = Append(@, number)]
            /\ incomplete' = incomplete \cup {number}
            /\ buffer' = [buffer EXCEPT ![a] = None]
            /\ taken' = [taken EXCEPT ![a] = TRUE]
            /\ Go(a, "EndAppend")
    /\ UNCHANGED <<inAir, free, closed, poolClosed, forced, appending, flushes, round, awaited,
                   sender, work, drain, history>>

\* The pool has undone the reservation before it raises.
AllocateRaises(a) ==
    /\ pc[a] = "Allocate"
    /\ Go(a, "EndAppend")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, round, buffer, taken, awaited, sender, work, drain, history>>

\* The record is not in, and nobody has the buffer but the appender.
AppendRaises(a) ==
    /\ pc[a] = "AppendNew"
    /\ Go(a, "GiveBack")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, round, buffer, taken, awaited, sender, work, drain, history>>

GiveBack(a) ==
    /\ pc[a] = "GiveBack"
    /\ free' = free \cup {buffer[a]}
    /\ buffer' = [buffer EXCEPT ![a] = None]
    /\ Go(a, "EndAppend")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, closed, poolClosed, forced, appending, flushes,
                   round, taken, awaited, sender, work, drain, history>>

EndAppend(a) ==
    LET last == round[a] = Len(Program[a]) IN
    /\ pc[a] = "EndAppend"
    /\ appending' = appending \ {a}
    /\ returned' = IF taken[a] THEN returned \cup {Record(a)} ELSE returned
    /\ taken' = [taken EXCEPT ![a] = FALSE]
    /\ round' = [round EXCEPT ![a] = IF last THEN @ ELSE @ + 1]
    /\ Go(a, IF last THEN "Done" ELSE "BeginAppend")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, flushes,
                   buffer, awaited, sender, work, drain, outcomes, promised>>

-----------------------------------------------------------------------------
(* flush (4.8) and close (4.9) *)

BeginFlush(f) ==
    /\ pc[f] = "BeginFlush"
    /\ flushes' = flushes + 1
    /\ promised' = [promised EXCEPT ![f] = returned]
    /\ Go(f, "LookAtIncomplete")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   round, buffer, taken, awaited, sender, work, drain, outcomes, returned>>

LookAtIncomplete(f) ==
    /\ pc[f] = "LookAtIncomplete"
    /\ awaited' = [awaited EXCEPT ![f] = incomplete]
    /\ Go(f, "AwaitFlush")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, round, buffer, taken, sender, work, drain, history>>

AwaitFlush(f) ==
    /\ pc[f] = "AwaitFlush"
    /\ \A b \in awaited[f] : AllDone(b)
    /\ flushes' = flushes - 1
    /\ awaited' = [awaited EXCEPT ![f] = {}]
    /\ Go(f, "Done")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   round, buffer, taken, sender, work, drain, history>>

\* A flush that does not keep its promise says so.
FlushInterrupted(f) ==
    /\ pc[f] = "AwaitFlush"
    /\ f \in Interrupted
    /\ flushes' = flushes - 1
    /\ awaited' = [awaited EXCEPT ![f] = {}]
    /\ promised' = [promised EXCEPT ![f] = {}]
    /\ Go(f, "Done")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   round, buffer, taken, sender, work, drain, outcomes, returned>>

Close(c) ==
    /\ pc[c] = "Close"
    /\ closed' = TRUE
    /\ Go(c, "ClosePool")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, poolClosed, forced, appending, flushes,
                   round, buffer, taken, awaited, sender, work, drain, history>>

ClosePool(c) ==
    /\ pc[c] = "ClosePool"
    /\ poolClosed' = TRUE
    /\ forced' = ByForce
    /\ Go(c, "Done")
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, appending, flushes, round, buffer,
                   taken, awaited, sender, work, drain, history>>

-----------------------------------------------------------------------------
(* ready and drain (4.2, 4.3) *)

Exhausted == free = {} /\ \E a \in Appenders : pc[a] = "Allocate"

\* Whether the sender leaves a partition alone (4.4); a model may have it mute what is in the air.
IsMuted(p) == FALSE

HasWork(p) == queue[p] # <<>> /\ ~IsMuted(p)

\* Rule 4.2: full, out of its linger, or wanted.
IsReady(p) ==
    /\ HasWork(p)
    /\ \/ ~Lingers
       \/ Len(queue[p]) > 1 \/ ~HasRoom(Head(queue[p]))
       \/ Exhausted \/ closed \/ flushes > 0

Ready ==
    /\ sender = "Idle"
    /\ ~forced
    /\ \E p \in AllPartitions : IsReady(p)
    /\ sender' = "Drain"
    /\ visited' = 0
    /\ room' = RequestSize
    /\ hungry' = {p \in AllPartitions : HasWork(p)}
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, client, work, drainIndex, passedOver, history>>

\* Which partition this drain visits next, if it began at the one where the last drain stopped.
NextIndex == IF visited = 0 THEN drainIndex ELSE (drainIndex + 1) % Partitions

\* Who had a batch and has still got nothing is passed over.
EndDrain ==
    /\ sender' = "Idle"
    /\ visited' = 0
    /\ room' = 0
    /\ hungry' = {}
    /\ passedOver' = [p \in AllPartitions |-> IF p \in hungry THEN passedOver[p] + 1 ELSE 0]

\* One partition, and at most one batch of it.
Drain ==
    LET p == NextIndex IN
    /\ sender = "Drain"
    /\ MonitorIsFree(p)
    /\ drainIndex' = p
    /\ IF HasWork(p) /\ room > 0
       THEN /\ queue' = [queue EXCEPT ![p] = Tail(@)]
            /\ batch' = Closing(Head(queue[p]))
            /\ inAir' = inAir \cup {Head(queue[p])}
            /\ room' = room - 1
            /\ hungry' = hungry \ {p}
            /\ sender' = IF visited + 1 < Partitions THEN "Drain" ELSE "EndDrain"
       ELSE /\ sender' = IF visited + 1 < Partitions /\ ~HasWork(p) THEN "Drain" ELSE "EndDrain"
            /\ UNCHANGED <<queue, batch, inAir, room, hungry>>
    /\ visited' = visited + 1
    /\ UNCHANGED <<incomplete, free, closed, poolClosed, forced, appending, flushes, client, work,
                   passedOver, history>>

SendRequest ==
    /\ sender = "EndDrain"
    /\ EndDrain
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, client, work, drainIndex, history>>

-----------------------------------------------------------------------------
(* Responses (4.6, 4.7) *)

Answered(b) ==
    /\ sender = "Idle"
    /\ ~forced
    /\ b \in inAir

Complete(b) ==
    /\ Answered(b)
    /\ batch[b].final = None
    /\ inAir' = inAir \ {b}
    /\ End(b, "succeeded")
    /\ sender' = "Forget"
    /\ hand' = b
    /\ UNCHANGED <<queue, incomplete, free, closed, poolClosed, forced, appending, flushes, client,
                   left, lastRound, drain, returned, promised>>

\* It had ended while the request was on its way; only its memory was kept (KAFKA-19012).
CompleteEnded(b) ==
    /\ Answered(b)
    /\ batch[b].final # None
    /\ inAir' = inAir \ {b}
    /\ free' = free \cup ({batch[b].memory} \ {None})
    /\ batch' = [batch EXCEPT ![b].memory = None]
    /\ UNCHANGED <<queue, incomplete, closed, poolClosed, forced, appending, flushes, client,
                   sender, work, drain, history>>

Reenqueue(b) ==
    /\ Answered(b)
    /\ batch[b].final = None
    /\ batch[b].attempts < MaxAttempts
    /\ MonitorIsFree(batch[b].partition)
    /\ inAir' = inAir \ {b}
    /\ batch' = [batch EXCEPT ![b].attempts = @ + 1]
    /\ queue' = [queue EXCEPT ![batch[b].partition] = <<b>> \o @]
    /\ UNCHANGED <<incomplete, free, closed, poolClosed, forced, appending, flushes, client, sender,
                   work, drain, history>>

\* The children take the records over, and their callbacks.
Split(b) ==
    LET n == Len(batch[b].records)
        made == [i \in 1..n |->
            NewBatch(batch[b].partition, <<batch[b].records[i]>>, None, FALSE)]
        numbers == [i \in 1..n |-> Len(batch) + i]
    IN
    /\ MaySplit
    /\ Answered(b)
    /\ batch[b].final = None
    /\ n > 1
    /\ inAir' = inAir \ {b}
    /\ batch' = [batch EXCEPT ![b].final = "split", ![b].children = Range(numbers)] \o made
    /\ sender' = "EnqueueChild"
    /\ hand' = b
    /\ left' = numbers
    /\ UNCHANGED <<queue, incomplete, free, closed, poolClosed, forced, appending, flushes, client,
                   lastRound, drain, history>>

\* The last one first, each at the head; the parent stays incomplete until all are there.
EnqueueChild ==
    LET b == left[Len(left)] IN
    /\ sender = "EnqueueChild"
    /\ MonitorIsFree(batch[b].partition)
    /\ incomplete' = incomplete \cup {b}
    /\ queue' = [queue EXCEPT ![batch[b].partition] = <<b>> \o @]
    /\ left' = SubSeq(left, 1, Len(left) - 1)
    /\ sender' = IF Len(left) = 1 THEN "Forget" ELSE "EnqueueChild"
    /\ UNCHANGED <<batch, inAir, free, closed, poolClosed, forced, appending, flushes, client, hand,
                   lastRound, drain, history>>

-----------------------------------------------------------------------------
(* deallocate (4.7) *)

\* Memory that a request may be reading is kept until the response (KAFKA-19012).
ReturnMemory(b) ==
    IF MayBeRead(b)
    THEN UNCHANGED <<free, batch>>
    ELSE /\ free' = free \cup ({batch[b].memory} \ {None})
         /\ batch' = [batch EXCEPT ![b].memory = None]

Forget ==
    /\ sender = "Forget"
    /\ incomplete' = incomplete \ {hand}
    /\ ReturnMemory(hand)
    /\ hand' = None
    /\ sender' = IF left # <<>> THEN "AbortBatch" ELSE IF forced THEN "AbortAwait" ELSE "Idle"
    /\ UNCHANGED <<queue, inAir, closed, poolClosed, forced, appending, flushes, client, left,
                   lastRound, drain, history>>

-----------------------------------------------------------------------------
(* Expiry (4.5) *)

\* The time of what came before in its partition is over as well: that comes first (4.11).
ExpiresNext(b) ==
    \A c \in incomplete : batch[c].partition = batch[b].partition => ~Precedes(c, b)

\* What a look for late batches finds in a queue, if its time is over: what was sent again can stand
\* behind what is younger.
Found(p) == Range(queue[p])

ExpireQueued(p) ==
    /\ MayExpire
    /\ sender = "Idle"
    /\ ~forced
    /\ MonitorIsFree(p)
    /\ \E b \in Found(p) :
        /\ ExpiresNext(b)
        /\ batch' = Closing(b)
        /\ queue' = [queue EXCEPT ![p] = Without(@, b)]
        /\ hand' = b
    /\ sender' = "Expire"
    /\ UNCHANGED <<incomplete, inAir, free, closed, poolClosed, forced, appending, flushes, client,
                   left, lastRound, drain, history>>

ExpireInAir(b) ==
    /\ MayExpire
    /\ Answered(b)
    /\ batch[b].final = None
    /\ ExpiresNext(b)
    /\ hand' = b
    /\ sender' = "Expire"
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, client, left, lastRound, drain, history>>

\* Outside the monitor.
Expire ==
    /\ sender = "Expire"
    /\ End(hand, "expired")
    /\ sender' = "Forget"
    /\ UNCHANGED <<queue, incomplete, inAir, free, closed, poolClosed, forced, appending, flushes,
                   client, work, drain, returned, promised>>

-----------------------------------------------------------------------------
(* Forced close (4.10) *)

RECURSIVE InOrder(_)
InOrder(numbers) ==
    IF numbers = {}
    THEN <<>>
    ELSE LET first == CHOOSE one \in numbers : \A other \in numbers : ~Precedes(other, one)
         IN  <<first>> \o InOrder(numbers \ {first})

\* A round over all that is incomplete now, in the order of appends (4.11).
Abort ==
    /\ \/ sender = "Idle" /\ forced
       \/ sender = "AbortRound"
    /\ left' = InOrder(incomplete)
    /\ sender' = IF incomplete = {} THEN "AbortAwait" ELSE "AbortBatch"
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, client, hand, lastRound, drain, history>>

\* Under the monitor a batch is closed and leaves its queue (KAFKA-3147).
AbortBatch ==
    LET b == Head(left)
        p == batch[b].partition
    IN
    /\ sender = "AbortBatch"
    /\ MonitorIsFree(p)
    /\ batch' = Closing(b)
    /\ queue' = [queue EXCEPT ![p] = Without(@, b)]
    /\ hand' = b
    /\ left' = Tail(left)
    /\ sender' = "AbortEnd"
    /\ UNCHANGED <<incomplete, inAir, free, closed, poolClosed, forced, appending, flushes, client,
                   lastRound, drain, history>>

AbortEnd ==
    /\ sender = "AbortEnd"
    /\ End(hand, "aborted")
    /\ sender' = "Forget"
    /\ UNCHANGED <<queue, incomplete, inAir, free, closed, poolClosed, forced, appending, flushes,
                   client, work, drain, returned, promised>>

\* Again while somebody appends, and once more after the last of them.
AbortAwait ==
    /\ sender = "AbortAwait"
    /\ sender' = IF lastRound THEN "Done" ELSE "AbortRound"
    /\ lastRound' = (appending = {})
    /\ UNCHANGED <<queue, batch, incomplete, inAir, free, closed, poolClosed, forced, appending,
                   flushes, client, hand, left, drain, history>>

-----------------------------------------------------------------------------

Appender(a) ==
    \/ BeginAppend(a) \/ TestClosed(a) \/ TryAppend(a) \/ Allocate(a) \/ AllocateFails(a)
    \/ AppendNew(a) \/ GiveBack(a) \/ EndAppend(a)

Flusher(f) == BeginFlush(f) \/ LookAtIncomplete(f) \/ AwaitFlush(f)

Respond(b) == Complete(b) \/ CompleteEnded(b) \/ Reenqueue(b) \/ Split(b) \/ ExpireInAir(b)

Sender ==
    \/ Ready \/ Drain \/ SendRequest
    \/ \E b \in Numbers : Respond(b)
    \/ \E p \in AllPartitions : ExpireQueued(p)
    \/ EnqueueChild \/ Forget \/ Expire
    \/ Abort \/ AbortBatch \/ AbortEnd \/ AbortAwait

\* Nobody has anything to do: all have ended, and what is left is not ready, or was aborted.
Terminated ==
    /\ \A t \in Threads : pc[t] = "Done"
    /\ \/ sender = "Done"
       \/ sender = "Idle" /\ ~forced /\ inAir = {} /\ ~\E p \in AllPartitions : IsReady(p)
    /\ UNCHANGED vars

Next ==
    \/ \E a \in Appenders : Appender(a)
    \/ \E a \in Unlucky : AllocateRaises(a) \/ AppendRaises(a)
    \/ \E f \in Flushers : Flusher(f)
    \/ \E f \in Flushers : FlushInterrupted(f)
    \/ \E c \in Closers : Close(c)
    \/ \E c \in Closers : ClosePool(c)
    \/ Sender
    \/ Terminated

Fairness ==
    /\ \A a \in Appenders : WF_vars(Appender(a))
    /\ \A f \in Flushers : WF_vars(Flusher(f))
    /\ \A c \in Closers : WF_vars(ClosePool(c))
    /\ WF_vars(Sender)

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Invariants *)

Steps ==
    {"BeginAppend", "TestFirst", "TryAppend", "Allocate", "TestAgain", "AppendNew", "GiveBack",
     "EndAppend", "BeginFlush", "LookAtIncomplete", "AwaitFlush", "Close", "ClosePool", "Done"}

SenderSteps ==
    {"Idle", "Drain", "EndDrain", "EnqueueChild", "Forget", "Expire", "AbortRound", "AbortBatch",
     "AbortEnd", "AbortAwait", "Done"}

Finals == {"succeeded", "expired", "split", "aborted"}

BatchType ==
    [partition : AllPartitions, records : Seq(Records), open : BOOLEAN, final : Finals \cup {None},
     memory : Buffers \cup {None}, attempts : Nat, children : SUBSET Numbers]

TypeOK ==
    /\ queue \in [AllPartitions -> Seq(Numbers)]
    /\ batch \in Seq(BatchType)
    /\ incomplete \subseteq Numbers
    /\ inAir \subseteq Numbers
    /\ free \subseteq Buffers
    /\ {closed, poolClosed, forced, lastRound} \subseteq BOOLEAN
    /\ appending \subseteq Appenders
    /\ flushes \in Nat
    /\ pc \in [Threads -> Steps]
    /\ round \in [Appenders -> Nat]
    /\ buffer \in [Appenders -> Buffers \cup {None}]
    /\ taken \in [Appenders -> BOOLEAN]
    /\ awaited \in [Flushers -> SUBSET Numbers]
    /\ sender \in SenderSteps
    /\ hand \in Numbers \cup {None}
    /\ left \in Seq(Numbers)
    /\ drainIndex \in AllPartitions
    /\ visited \in 0..Partitions
    /\ room \in 0..RequestSize
    /\ outcomes \in [Records -> Nat]
    /\ returned \subseteq Records
    /\ promised \in [Flushers -> SUBSET Records]
    /\ hungry \subseteq AllPartitions
    /\ passedOver \in [AllPartitions -> Nat]

MutualExclusion ==
    \A a, other \in Appenders :
        {pc[a], pc[other]} \subseteq {"TryAppend", "AppendNew"} /\ Partition(a) = Partition(other)
            => a = other

RecordCompletesAtMostOnce == \A r \in Records : outcomes[r] <= 1

Places(b) == Cardinality({<<p, i>> \in UNION {{p} \X DOMAIN queue[p] : p \in AllPartitions} :
    queue[p][i] = b}) + (IF b \in inAir THEN 1 ELSE 0)

BatchInOnePlaceAtMost == \A b \in Numbers : Places(b) <= 1

EndedBatchIsNotQueued ==
    \A p \in AllPartitions : \A b \in Range(queue[p]) : batch[b].final = None

\* What has been drained takes no more records.
OnlyTheLastBatchIsOpen ==
    \A b \in Numbers : batch[b].open =>
        LET p == batch[b].partition IN queue[p] # <<>> /\ Last(p) = b

\* KAFKA-8202.
WhatHasNotEndedIsIncomplete ==
    \A b \in inAir : batch[b].final = None => b \in incomplete

\* KAFKA-19012.
BufferIsNeverFreeAndReferenced ==
    /\ \A b \in Numbers : batch[b].memory \notin free
    /\ \A a \in Appenders : buffer[a] \notin free
    /\ \A b, c \in Numbers : b # c /\ batch[b].memory # None => batch[b].memory # batch[c].memory

\* KAFKA-4741.
NoBufferIsLost ==
    LET having == {a \in Appenders : pc[a] \in {"TestAgain", "AppendNew", "GiveBack"}}
        allocated == {buffer[a] : a \in having}
        used == {batch[b].memory : b \in incomplete \cup inAir}
    IN  (free \cup allocated \cup used) \ {None} = Buffers

\* Rule 6.9.1: whatever has failed, in the end all memory is the pool's and nobody is counted.
NothingIsKeptInTheEnd ==
    (\A t \in Threads : pc[t] = "Done") /\ incomplete = {} /\ inAir = {} =>
        free = Buffers /\ appending = {} /\ flushes = 0

\* KAFKA-9312.
FlushWaitsForWhatWasAcceptedBefore ==
    \A f \in Flushers : pc[f] = "Done" => \A r \in promised[f] : outcomes[r] > 0

\* KAFKA-3655.
FlushesAreCounted ==
    flushes = Cardinality({f \in Flushers : pc[f] \in {"LookAtIncomplete", "AwaitFlush"}})

\* Among n partitions a batch waits for at most n drains.
DrainIsFair == \A p \in AllPartitions : passedOver[p] < Partitions

AbortLeavesNothing ==
    sender = "Done" =>
        /\ incomplete = {}
        /\ \A p \in AllPartitions : queue[p] = <<>>
        /\ \A r \in returned : outcomes[r] = 1

\* Rule 4.11: nobody is told before those whose record came earlier to the partition.  Promised to
\* whoever mutes what is in the air; else two requests may be answered in any order.
CallbacksRunInTheOrderOfAppends ==
    \A b, c \in Numbers :
        b <= c /\ batch[b].partition = batch[c].partition /\ Parents(b) \cup Parents(c) = {} =>
            \A i \in DOMAIN batch[b].records, j \in DOMAIN batch[c].records :
                (b < c \/ i < j) /\ outcomes[batch[c].records[j]] > 0 =>
                    outcomes[batch[b].records[i]] > 0

\* Rule 4.5: what is queued can expire as soon as its time is over, whatever stands before it.
WhatIsLateCanExpire ==
    MayExpire /\ sender = "Idle" /\ ~forced =>
        \A p \in AllPartitions : \A b \in Range(queue[p]) :
            ExpiresNext(b) /\ MonitorIsFree(p) => ENABLED ExpireQueued(p)

\* Whatever ended it but an answer leaves it there (KAFKA-19012).
WhatIsAnsweredIsNotInTheAir == \A b \in inAir : batch[b].final \notin {"succeeded", "split"}

\* Who is told that its record is late, or aborted, is told the truth (4.5, 4.10).
OutcomesAreTrue ==
    \A b \in Numbers :
        /\ batch[b].final = "expired" => MayExpire
        /\ batch[b].final = "aborted" => forced

\* Rule 4.6.
NoBatchIsTriedTooOften == \A b \in Numbers : batch[b].attempts <= MaxAttempts

\* An append tells whether its record has been taken (4.1).
AppendsTellWhatIsTaken ==
    \A r \in Records :
        (\E b \in Numbers : r \in Range(batch[b].records))
            <=> (r \in returned \/ (taken[r[1]] /\ r[2] = round[r[1]]))

\* What a call needs is gone when it ends, and what the sender needs, when it is idle.
CallsLeaveNothingBehind ==
    /\ \A a \in Appenders :
        /\ buffer[a] # None => pc[a] \in {"TestAgain", "AppendNew", "GiveBack"}
        /\ taken[a] => pc[a] \in {"GiveBack", "EndAppend"}
        /\ a \in appending <=> pc[a] \notin {"BeginAppend", "Done"}
    /\ \A f \in Flushers : awaited[f] # {} => pc[f] = "AwaitFlush"
    /\ sender = "Idle" => hand = None /\ left = <<>> /\ visited = 0 /\ room = 0 /\ hungry = {}

(* Action properties *)

\* All that was taken for a partition.
RecordsOf(p) ==
    UNION {Range(batch[b].records) : b \in {one \in Numbers : batch[one].partition = p}}

\* KAFKA-3147.
NoClosedBatchIsAppendedTo ==
    [][\A b \in Numbers :
        ~batch[b].open \/ batch[b].final # None => batch'[b].records = batch[b].records]_vars

FinalStateIsSetOnce ==
    [][\A b \in Numbers : batch[b].final # None => batch'[b].final = batch[b].final]_vars

\* Rule 4.9.1: when a close has returned, an append can be taken by which the monitor is held since
\* before, and no other one.
NothingIsTakenAfterClose ==
    [][\A c \in Closers, p \in AllPartitions :
        pc[c] = "Done" /\ MonitorIsFree(p)
            => MonitorIsFree(p)' /\ RecordsOf(p)' = RecordsOf(p)]_vars

\* Rules 4.3.1 and 4.4.1: a drain takes the first batch of a partition, and none of one that is muted.
DrainTakesTheFirst ==
    [][\A b \in inAir' \ inAir :
        LET p == batch[b].partition
        IN  ~IsMuted(p) /\ queue[p] # <<>> /\ b = Head(queue[p])]_vars

\* Whoever gives up waiting for memory finds none, unless it raises; a closed pool gives none.
MemoryIsRefusedForWant ==
    [][\A a \in Appenders : pc[a] = "Allocate" /\ pc'[a] # pc[a] =>
        IF pc'[a] = "EndAppend"
        THEN poolClosed \/ free = {} \/ a \in Unlucky
        ELSE ~poolClosed]_vars

\* Rule 4.2: nothing is sent that may linger, alone and not full, unless somebody waits for it.
WhatLingersWaits ==
    [][sender = "Idle" /\ sender' = "Drain" /\ Lingers =>
        \/ closed
        \/ \E t \in Flushers : pc[t] \in {"LookAtIncomplete", "AwaitFlush"}
        \/ free = {} /\ \E a \in Appenders : pc[a] = "Allocate"
        \/ \E p \in AllPartitions : \E i \in DOMAIN queue[p] : i > 1 \/ ~HasRoom(queue[p][i])]_vars

(* Liveness *)

AppendsEnd == \A a \in Appenders : pc[a] = "TestFirst" ~> pc[a] = "EndAppend"

FlushEnds == \A f \in Flushers : pc[f] = "LookAtIncomplete" ~> pc[f] = "Done"

\* Not promised to a batch that may linger for ever.
EveryRecordCompletes == \A r \in Records : r \in returned ~> outcomes[r] = 1

\* Rules 4.2.2 and 4.9.1: nothing lingers when the accumulator has been closed.
NothingLingersAfterClose ==
    \A c \in Closers, r \in Records : pc[c] = "Done" /\ r \in returned ~> outcomes[r] = 1

ForcedCloseEnds == forced ~> sender = "Done"

-----------------------------------------------------------------------------
(* Refinement: batches are a matter of the accumulator alone *)

Owners(r) == {b \in Numbers : r \in Range(batch[b].records)}

\* What ended a record: a batch that was split ended without it.
FateOf(r) ==
    IF Owners(r) = {}
    THEN "unknown"
    ELSE IF outcomes[r] = 0
    THEN "waiting"
    ELSE batch[CHOOSE b \in Owners(r) : batch[b].final \notin {None, "split"}].final

RECURSIVE RecordsFrom(_, _)
RecordsFrom(p, b) ==
    IF b > Len(batch)
    THEN <<>>
    ELSE (IF batch[b].partition = p /\ Parents(b) = {} THEN batch[b].records ELSE <<>>)
            \o RecordsFrom(p, b + 1)

WaitingIn(p) == SelectSeq(RecordsFrom(p, 1), LAMBDA r : outcomes[r] = 0)

\* Records are refused when the last append has returned that may be taken all the same.
Refusing == closed /\ \A a \in Appenders : pc[a] \notin {"TryAppend", "AppendNew"} /\ ~taken[a]

Abstract(inOrder) == INSTANCE Accumulator WITH
    AllRecords <- Records,
    Keys <- AllPartitions,
    KeyOf <- [r \in Records |-> Program[r[1]][r[2]]],
    KeepsOrder <- inOrder,
    waiting <- [p \in AllPartitions |-> WaitingIn(p)],
    fate <- [r \in Records |-> FateOf(r)],
    shut <- Refusing

RefinesAccumulator == Abstract(FALSE)!Init /\ [][Abstract(FALSE)!Next]_(Abstract(FALSE)!vars)

\* For whoever mutes what is in the air.
RefinesAccumulatorInOrder ==
    Abstract(TRUE)!Init /\ [][Abstract(TRUE)!Next]_(Abstract(TRUE)!vars)

THEOREM Spec => RefinesAccumulator
=============================================================================
