---------------------------- MODULE ProduceFetch ----------------------------
(***************************************************************************)
(* How produce and fetch requests that wait complete each other: appends   *)
(* let fetches go, fetches of followers move the high watermark, and that  *)
(* lets produces and fetches of consumers go.                              *)
(*                                                                         *)
(* Source.       standard 5.1 - 5.4; findings 18.                          *)
(* Kafka.        ReplicaManager: appendRecords, fetchMessages,             *)
(*               addCompletePurgatoryAction; DelayedProduce, DelayedFetch: *)
(*               tryComplete, onComplete; Partition:                       *)
(*               appendRecordsToLeader, updateFollowerFetchState,          *)
(*               maybeIncrementLeaderHW, maybeExpandIsr, maybeShrinkIsr,   *)
(*               checkEnoughReplicasReachOffset, makeLeader, makeFollower. *)
(* Abstraction.  One broker, which leads its partitions or follows.  A     *)
(*               record is one byte and its producer's, an append one      *)
(*               record, acks is all, and one replica in sync is enough.   *)
(*               The model has no lag time; only membership of the in-sync *)
(*               set counts (KIP-966).                                     *)
(*               A log is one segment.  Both purgatories are what          *)
(*               Purgatory is shown to be: a set of waiting requests, and  *)
(*               a trigger that completes those in it whose predicate      *)
(*               holds.  Elections: another replica in sync leads, appends *)
(*               nothing, and this broker comes back.                      *)
(* Atomicity.    The partition's lock has two sides.  What holds the       *)
(*               exclusive one is one step, when nobody holds the shared   *)
(*               one.  What holds the shared one is a step for each access *)
(*               of the log or of what is known of the replicas: several   *)
(*               appends and fetches are there at once.  The ends of the   *)
(*               replicas are read together, since they only rise there.   *)
(*               One step for each read of a fetch, each trigger of a      *)
(*               purgatory under a key, each attempt of a request together *)
(*               with its answer, each watch, each answer taken in.        *)
(* Fairness.     Weak, for each thread.  Requests need not expire,         *)
(*               followers need not stop or fall behind, and nobody need   *)
(*               elect; a follower that has stopped is left out at last.   *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences

CONSTANTS
    Partitions,     \* the partitions
    Producers,      \* threads that produce one record for each of their partitions
    Followers,      \* replicas that fetch again and again; all in sync at first
    Mortal,         \* those of them that may stop
    Slow,           \* those of them that may be out of sync though they go on
    Consumers,      \* threads that fetch once, from the beginning
    Asks,           \* producer, follower or consumer -> the sequence of its partitions
    MinBytes,       \* consumer -> how many bytes it waits for
    Watchdogs,      \* the thread that looks for replicas out of sync: one at most
    Controllers,    \* the thread that has other replicas elected: one at most
    MaxEpoch,       \* how many elections of a partition there may be
    Expiring        \* the producers, followers and consumers whose requests may expire

Range(sequence) == {sequence[i] : i \in DOMAIN sequence}

ASSUME Mortal \cup Slow \subseteq Followers
ASSUME Asks \in [Producers \cup Followers \cup Consumers -> Seq(Partitions) \ {<<>>}]
ASSUME MinBytes \in [Consumers -> Nat \ {0}]
ASSUME Cardinality(Watchdogs) <= 1 /\ Cardinality(Controllers) <= 1 /\ MaxEpoch \in Nat

VARIABLES
    log,            \* partition -> this broker's records, each with its epoch and producer
    hw,             \* partition -> the high watermark
    epoch,          \* partition -> the epoch of its leader
    leads,          \* partition -> whether this broker leads it
    start,          \* partition -> where the log ended when this epoch began
    isr,            \* partition -> the followers in sync; none unless this broker leads
    ends,           \* partition -> follower -> where its log ends, as the leader knows
    inside,         \* partition -> the threads that hold the shared side of its lock
    copy,           \* follower -> partition -> its log
    sent,           \* follower -> partition -> the epoch of the leader that its fetch is meant for
    required,       \* producer -> partition -> where its record ends, 0 if there is none
    written,        \* producer -> partition -> the epoch in which its record was appended
    status,         \* producer -> partition -> the answer as it stands
    produces,       \* the producers watched in the produce purgatory
    fetches,        \* the followers and consumers watched in the fetch purgatory
    answer,         \* request -> how it was answered, or "none"
    received,       \* follower or consumer -> partition -> what it reads, and its answer holds
    ready,          \* follower or consumer -> the answer that its first read allows, or "none"
    pc,             \* thread -> its next step
    todo,           \* thread -> the partitions that it still has to deal with
    least,          \* thread -> the least end of those in sync, as it has read it
    risen,          \* thread -> the partitions whose high watermark it has raised
    triggers,       \* thread -> the checks that it still has to make, each a purgatory and a key
    leader          \* controller -> the replica that leads instead, with its partition

partition == <<log, hw, epoch, leads, start, isr, ends, inside>>
requests == <<required, written, status, produces, fetches, answer, received>>
registers == <<ready, todo, least, risen, triggers, leader>>
others == <<copy, sent>>
vars == <<partition, others, requests, pc, registers>>

Fetchers == Followers \cup Consumers
Requests == Producers \cup Fetchers
Threads == Requests \cup Watchdogs \cup Controllers

Nobody == <<"nobody", "nothing">>

Go(t, label) == pc' = [pc EXCEPT ![t] = label]

Init ==
    /\ log = [q \in Partitions |-> <<>>]
    /\ hw = [q \in Partitions |-> 0]
    /\ epoch = [q \in Partitions |-> 0]
    /\ leads = [q \in Partitions |-> TRUE]
    /\ start = [q \in Partitions |-> 0]
    /\ isr = [q \in Partitions |-> Followers]
    /\ ends = [q \in Partitions |-> [f \in Followers |-> 0]]
    /\ inside = [q \in Partitions |-> {}]
    /\ copy = [f \in Followers |-> [q \in Partitions |-> <<>>]]
    /\ sent = [f \in Followers |-> [q \in Partitions |-> 0]]
    /\ required = [p \in Producers |-> [q \in Partitions |-> 0]]
    /\ written = [p \in Producers |-> [q \in Partitions |-> 0]]
    /\ status = [p \in Producers |-> [q \in Partitions |-> "none"]]
    /\ produces = {}
    /\ fetches = {}
    /\ answer = [r \in Requests |-> "none"]
    /\ received = [x \in Fetchers |-> [q \in Partitions |-> <<>>]]
    /\ ready = [x \in Fetchers |-> "none"]
    /\ pc = [t \in Threads |->
            CASE t \in Producers -> "Append"
              [] t \in Fetchers -> "Read"
              [] t \in Watchdogs -> "Watchdog"
              [] t \in Controllers -> "Controller"]
    /\ todo = [t \in Threads |-> IF t \in Requests THEN Asks[t] ELSE <<>>]
    /\ least = [t \in Threads |-> 0]
    /\ risen = [t \in Threads |-> {}]
    /\ triggers = [t \in Threads |-> <<>>]
    /\ leader = [k \in Controllers |-> Nobody]

-----------------------------------------------------------------------------
(* Logs and the high watermark *)

End(q) == Len(log[q])

Min(a, b) == IF a < b THEN a ELSE b
Max(a, b) == IF a > b THEN a ELSE b

IsPrefix(some, whole) == Len(some) <= Len(whole) /\ some = SubSeq(whole, 1, Len(some))

\* How far two logs are the same: a follower whose log diverges goes back to there.
Common(some, whole) ==
    CHOOSE n \in 0..Min(Len(some), Len(whole)) :
        /\ SubSeq(some, 1, n) = SubSeq(whole, 1, n)
        /\ n < Min(Len(some), Len(whole)) => some[n + 1] # whole[n + 1]

\* The least end of those in sync, where `known` has the followers' ends.
Least(end, known, replicas) ==
    LET numbers == {end} \cup {known[f] : f \in replicas}
    IN  CHOOSE n \in numbers : \A m \in numbers : n <= m

\* It never goes back, and never beyond the end.
Raised(q, offset, end) == Max(hw[q], Min(offset, end))

-----------------------------------------------------------------------------
(* What a request waits for (5.1, 5.2), and its answer   *)

\* Finding 18: the epoch says whether what stands at the offset is the producer's own record.
Holds(p, q) == required[p][q] <= End(q) /\ log[q][required[p][q]][1] = written[p][q]

Acknowledged(p, q) ==
    IF ~leads[q] \/ ~Holds(p, q)
    THEN "refused"
    ELSE IF hw[q] >= required[p][q] THEN "ok" ELSE "pending"

Statuses(p) ==
    [q \in Partitions |-> IF status[p][q] = "pending" THEN Acknowledged(p, q) ELSE status[p][q]]

\* A follower says which leader it means; so a fetch does not outlive an election.
Fences(x, q) == x \in Followers /\ sent[x][q] # epoch[q]

Serves(x, q) == leads[q] /\ ~Fences(x, q)

\* This broker has to say that it does not serve, or that the follower's log diverges.
Refuses(x) ==
    \E q \in Range(Asks[x]) :
        ~Serves(x, q) \/ (x \in Followers /\ ~IsPrefix(copy[x][q], log[q]))

RECURSIVE Sum(_, _)
Sum(x, partitions) ==
    IF partitions = {}
    THEN 0
    ELSE LET q == CHOOSE one \in partitions : TRUE
         IN  (IF x \in Followers THEN End(q) - Len(copy[x][q]) ELSE hw[q])
             + Sum(x, partitions \ {q})

Enough(x) == IF x \in Followers THEN 1 ELSE MinBytes[x]

Satisfied(r) ==
    IF r \in Producers
    THEN \A q \in Partitions : Statuses(r)[q] # "pending"
    ELSE Refuses(r) \/ Sum(r, Range(Asks[r])) >= Enough(r)

\* A follower reads up to the end of the log, a consumer up to the high watermark.
ReadableEnd(x, q) == IF x \in Followers THEN End(q) ELSE hw[q]

\* What a fetch reads; where this broker refuses, what the follower has is cut to what is right.
Reading(x) ==
    [q \in Partitions |->
        IF q \notin Range(Asks[x])
        THEN received[x][q]
        ELSE IF x \in Consumers
        THEN IF leads[q] THEN SubSeq(log[q], 1, ReadableEnd(x, q)) ELSE <<>>
        ELSE IF ~Serves(x, q)
        THEN copy[x][q]
        ELSE IF ~IsPrefix(copy[x][q], log[q])
        THEN SubSeq(log[q], 1, Common(copy[x][q], log[q]))
        ELSE SubSeq(log[q], 1, ReadableEnd(x, q))]

Open(r) == answer[r] = "none"

Outcome(r) == IF r \in Fetchers /\ Refuses(r) THEN "refused" ELSE "ok"

\* The requests of `tried` are tried, and those of `done` are answered; the log is read again then.
Answer(tried, done) ==
    /\ status' = [p \in Producers |-> IF p \in tried THEN Statuses(p) ELSE status[p]]
    /\ answer' = [r \in Requests |-> IF r \in done THEN Outcome(r) ELSE answer[r]]
    /\ received' = [x \in Fetchers |-> IF x \in done THEN Reading(x) ELSE received[x]]

-----------------------------------------------------------------------------
(* Under the shared side of a partition's lock: raising the high watermark *)

Enter(t, q) == inside' = [inside EXCEPT ![q] = @ \cup {t}]

ReadEnds(t) ==
    LET q == Head(todo[t]) IN
    /\ pc[t] = "ReadEnds"
    /\ least' = [least EXCEPT ![t] = Least(End(q), ends[q], isr[q])]
    /\ Go(t, "Raise")
    /\ UNCHANGED <<partition, others, requests, ready, todo, risen, triggers, leader>>

\* A follower that has caught up is in sync again (5.4).
MayRejoin(f, q, end) ==
    /\ f \in Followers \ isr[q]
    /\ end >= hw[q]
    /\ end >= start[q]

NextPartition(t) ==
    /\ todo' = [todo EXCEPT ![t] = Tail(@)]
    /\ Go(t, IF Len(todo[t]) > 1 THEN IF t \in Producers THEN "Append" ELSE "NoteEnd"
             ELSE "Answer")

\* Releases the lock.
Raise(t) ==
    LET q == Head(todo[t])
        mark == Raised(q, least[t], End(q))
    IN
    /\ pc[t] = "Raise"
    /\ hw' = [hw EXCEPT ![q] = mark]
    /\ risen' = [risen EXCEPT ![t] = IF mark > hw[q] THEN @ \cup {q} ELSE @]
    /\ inside' = [inside EXCEPT ![q] = @ \ {t}]
    /\ least' = [least EXCEPT ![t] = 0]
    /\ NextPartition(t)
    /\ UNCHANGED <<log, epoch, leads, start, isr, ends, others, requests, ready, triggers, leader>>

-----------------------------------------------------------------------------
(* append_records (5.3): append, try and watch, then trigger  *)

\* Takes the shared side of the lock, unless another broker leads.
AppendRecord(p) ==
    LET q == Head(todo[p]) IN
    /\ pc[p] = "Append"
    /\ IF leads[q]
       THEN /\ Enter(p, q)
            /\ log' = [log EXCEPT ![q] = Append(@, <<epoch[q], p>>)]
            /\ required' = [required EXCEPT ![p][q] = End(q) + 1]
            /\ written' = [written EXCEPT ![p][q] = epoch[q]]
            /\ status' = [status EXCEPT ![p][q] = "pending"]
            /\ Go(p, "ReadEnds")
            /\ UNCHANGED todo
       ELSE /\ status' = [status EXCEPT ![p][q] = "refused"]
            /\ NextPartition(p)
            /\ UNCHANGED <<inside, log, required, written>>
    /\ UNCHANGED <<hw, epoch, leads, start, isr, ends, others, produces, fetches, answer, received,
                   ready, least, risen, triggers, leader>>

-----------------------------------------------------------------------------
(* fetch_messages (5.2, 5.3): read, note how far a follower is, try and watch, then trigger   *)

Read(x) ==
    /\ pc[x] = "Read"
    /\ ready' = [ready EXCEPT ![x] = IF Satisfied(x) THEN Outcome(x) ELSE "none"]
    /\ received' = IF Satisfied(x) THEN [received EXCEPT ![x] = Reading(x)] ELSE received
    /\ Go(x, IF x \in Followers THEN "NoteEnd" ELSE "Answer")
    /\ UNCHANGED <<partition, others, required, written, status, produces, fetches, answer, todo,
                   least, risen, triggers, leader>>

\* Under the shared side, unless this broker cannot serve the fetch any more.  A follower that may
\* rejoin asks for the exclusive side; one that has moved goes on to raise the high watermark.
NoteEnd(f) ==
    LET q == Head(todo[f])
        end == Len(copy[f][q])
    IN
    /\ pc[f] = "NoteEnd"
    /\ IF Serves(f, q) /\ IsPrefix(copy[f][q], log[q])
       THEN /\ ends' = [ends EXCEPT ![q][f] = end]
            /\ IF MayRejoin(f, q, end)
               THEN Go(f, "Expand") /\ UNCHANGED <<inside, todo>>
               ELSE IF ends[q][f] # end
               THEN Enter(f, q) /\ Go(f, "ReadEnds") /\ UNCHANGED todo
               ELSE NextPartition(f) /\ UNCHANGED inside
       ELSE /\ NextPartition(f)
            /\ UNCHANGED <<inside, ends>>
    /\ UNCHANGED <<log, hw, epoch, leads, start, isr, others, requests, ready, least, risen,
                   triggers, leader>>

\* Under the exclusive side, with the test made again.
Expand(f) ==
    LET q == Head(todo[f])
        replicas == IF leads[q] /\ MayRejoin(f, q, ends[q][f]) THEN isr[q] \cup {f} ELSE isr[q]
        mark == IF leads[q] THEN Raised(q, Least(End(q), ends[q], replicas), End(q)) ELSE hw[q]
    IN
    /\ pc[f] = "Expand"
    /\ inside[q] = {}
    /\ isr' = [isr EXCEPT ![q] = replicas]
    /\ hw' = [hw EXCEPT ![q] = mark]
    /\ risen' = [risen EXCEPT ![f] = IF mark > hw[q] THEN @ \cup {q} ELSE @]
    /\ NextPartition(f)
    /\ UNCHANGED <<log, epoch, leads, start, ends, inside, others, requests, ready, least, triggers,
                   leader>>

\* The answer is taken in, and the next fetch is sent: another request, which nobody watches yet.
\* Who leads meanwhile takes none.
Receive(f) ==
    /\ pc[f] = "Wait"
    /\ ~Open(f)
    /\ copy' = [copy EXCEPT ![f] = [q \in Partitions |->
            IF \E k \in Controllers : leader[k] = <<f, q>> THEN copy[f][q] ELSE received[f][q]]]
    /\ received' = [received EXCEPT ![f] = [q \in Partitions |-> <<>>]]
    /\ answer' = [answer EXCEPT ![f] = "none"]
    /\ todo' = [todo EXCEPT ![f] = Asks[f]]
    /\ sent' = [sent EXCEPT ![f] = epoch]
    /\ fetches' = fetches \ {f}
    /\ Go(f, "Read")
    /\ UNCHANGED <<partition, required, written, status, produces, ready, least, risen, triggers,
                   leader>>

Stop(f) ==
    /\ f \in Mortal
    /\ pc[f] \in {"Read", "Wait"}
    /\ Go(f, "Stopped")
    /\ UNCHANGED <<partition, others, requests, registers>>

-----------------------------------------------------------------------------
(* try_complete_else_watch (2.4) *)

Named(purgatory, keys) == [i \in DOMAIN keys |-> <<purgatory, keys[i]>>]

\* Both purgatories, key by key.
Both(keys) ==
    [i \in 1..(2 * Len(keys)) |->
        <<IF i % 2 = 1 THEN "produce" ELSE "fetch", keys[(i + 1) \div 2]>>]

\* What a request has to check when it has been tried and watched.  An append gives fetches their
\* data; produces are asked only where the high watermark rose.
Checks(r) ==
    LET rose == SelectSeq(Asks[r], LAMBDA q : q \in risen[r]) IN
    CASE r \in Producers ->
            Named("fetch", SelectSeq(Asks[r], LAMBDA q : required[r][q] > 0))
                \o Named("produce", rose)
      [] r \in Followers -> Both(rose)
      [] r \in Consumers -> <<>>

ThenCheck(r) ==
    /\ triggers' = [triggers EXCEPT ![r] = Checks(r)]
    /\ risen' = [risen EXCEPT ![r] = {}]
    /\ Go(r, IF Checks(r) = <<>> THEN "Wait" ELSE "Trigger")

\* Whether a request has its answer without waiting, or begins to be tried.
AnswerAtOnce(r) ==
    LET known == IF r \in Producers
                 THEN IF \A q \in Partitions : required[r][q] = 0 THEN "ok" ELSE "none"
                 ELSE ready[r]
    IN
    /\ pc[r] = "Answer"
    /\ answer' = [answer EXCEPT ![r] = known]
    /\ ready' = IF r \in Fetchers THEN [ready EXCEPT ![r] = "none"] ELSE ready
    /\ IF known = "none"
       THEN Go(r, "FirstTry") /\ UNCHANGED <<triggers, risen>>
       ELSE ThenCheck(r)
    /\ UNCHANGED <<partition, others, required, written, status, produces, fetches, received, todo,
                   least, leader>>

Try(r, otherwise) ==
    IF ~Open(r)
    THEN ThenCheck(r) /\ UNCHANGED <<status, answer, received>>
    ELSE IF Satisfied(r)
    THEN Answer({r}, {r}) /\ ThenCheck(r)
    ELSE /\ Answer({r}, {})
         /\ IF otherwise = "Wait"
            THEN ThenCheck(r)
            ELSE Go(r, otherwise) /\ UNCHANGED <<triggers, risen>>

FirstTry(r) ==
    /\ pc[r] = "FirstTry"
    /\ Try(r, "Watch")
    /\ UNCHANGED <<partition, others, required, written, produces, fetches, ready, todo, least,
                   leader>>

Watch(r) ==
    /\ pc[r] = "Watch"
    /\ produces' = produces \cup ({r} \cap Producers)
    /\ fetches' = fetches \cup ({r} \cap Fetchers)
    /\ Go(r, "LastTry")
    /\ UNCHANGED <<partition, others, required, written, status, answer, received, registers>>

LastTry(r) ==
    /\ pc[r] = "LastTry"
    /\ Try(r, "Wait")
    /\ UNCHANGED <<partition, others, required, written, produces, fetches, ready, todo, least,
                   leader>>

-----------------------------------------------------------------------------
(* Triggers: check_and_complete of a purgatory under a key, without a lock; it drops what is done *)

AfterTriggers(t) ==
    CASE t \in Requests -> "Wait"
      [] t \in Watchdogs -> "Watchdog"
      [] t \in Controllers -> "Controller"

WaitingUnder(check) ==
    {r \in IF check[1] = "produce" THEN produces ELSE fetches : check[2] \in Range(Asks[r])}

Trigger(t) ==
    LET found == WaitingUnder(Head(triggers[t]))
        tried == {r \in found : Open(r)}
    IN
    /\ pc[t] = "Trigger"
    /\ Answer(tried, {r \in tried : Satisfied(r)})
    /\ produces' = {p \in produces : p \notin found \/ answer'[p] = "none"}
    /\ fetches' = {x \in fetches : x \notin found \/ answer'[x] = "none"}
    /\ triggers' = [triggers EXCEPT ![t] = Tail(@)]
    /\ Go(t, IF Len(triggers[t]) > 1 THEN "Trigger" ELSE AfterTriggers(t))
    /\ UNCHANGED <<partition, others, required, written, ready, todo, least, risen, leader>>

\* The answer has come.
GetAnswer(r) ==
    /\ r \notin Followers
    /\ pc[r] = "Wait"
    /\ ~Open(r)
    /\ Go(r, "Done")
    /\ UNCHANGED <<partition, others, requests, registers>>

\* A produce answers what is still pending with a time-out, a fetch with what there is.
Expire(r) ==
    /\ r \in Expiring
    /\ pc[r] = "Wait"
    /\ Open(r)
    /\ answer' = [answer EXCEPT ![r] = IF r \in Producers THEN "timed_out" ELSE Outcome(r)]
    /\ received' = IF r \in Fetchers THEN [received EXCEPT ![r] = Reading(r)] ELSE received
    /\ UNCHANGED <<partition, others, required, written, status, produces, fetches, pc, registers>>

-----------------------------------------------------------------------------
(* Who is in sync, and who leads (5.4): under the exclusive side of the lock  *)

ThenTrigger(t, checks, otherwise) ==
    /\ triggers' = [triggers EXCEPT ![t] = checks]
    /\ Go(t, IF checks = <<>> THEN otherwise ELSE "Trigger")

\* A follower that is behind keeps the high watermark back until it is left out.
LeaveOut(d, f, q) ==
    LET mark == Raised(q, Least(End(q), ends[q], isr[q] \ {f}), End(q)) IN
    /\ pc[d] = "Watchdog"
    /\ leads[q] /\ inside[q] = {} /\ f \in isr[q] /\ ends[q][f] < End(q)
    /\ isr' = [isr EXCEPT ![q] = @ \ {f}]
    /\ hw' = [hw EXCEPT ![q] = mark]
    /\ ThenTrigger(d, IF mark > hw[q] THEN Both(<<q>>) ELSE <<>>, "Watchdog")
    /\ UNCHANGED <<log, epoch, leads, start, ends, inside, others, requests, ready, todo, least,
                   risen, leader>>

ShrinkIsr(d) == \E f \in Followers, q \in Partitions : pc[f] = "Stopped" /\ LeaveOut(d, f, q)

\* A follower that goes on, too slowly.
DropSlow(d) == \E f \in Slow, q \in Partitions : LeaveOut(d, f, q)

\* Another replica in sync leads: become_follower.
Demote(k, g, q) ==
    /\ pc[k] = "Controller"
    /\ leader[k] = Nobody
    /\ leads[q] /\ inside[q] = {} /\ g \in isr[q] /\ epoch[q] < MaxEpoch
    /\ leads' = [leads EXCEPT ![q] = FALSE]
    /\ epoch' = [epoch EXCEPT ![q] = @ + 1]
    /\ isr' = [isr EXCEPT ![q] = {}]
    /\ ends' = [ends EXCEPT ![q] = [f \in Followers |-> 0]]
    /\ leader' = [leader EXCEPT ![k] = <<g, q>>]
    /\ ThenTrigger(k, Both(<<q>>), "Controller")
    /\ UNCHANGED <<log, hw, start, inside, others, requests, ready, todo, least, risen>>

\* The log becomes the leader's: what that does not have is cut off.  Nobody is told.
Follow(k) ==
    LET q == leader[k][2]
        whole == copy[leader[k][1]][q]
    IN
    /\ pc[k] = "Controller"
    /\ leader[k] # Nobody
    /\ inside[q] = {}
    /\ log[q] # whole
    /\ log' = [log EXCEPT ![q] = whole]
    /\ hw' = [hw EXCEPT ![q] = Min(@, Common(log[q], whole))]
    /\ UNCHANGED <<epoch, leads, start, isr, ends, inside, others, requests, pc, registers>>

\* This broker leads again, with those in sync that have what is below the high watermark.
Promote(k) ==
    LET q == leader[k][2]
        replicas == {f \in Followers : IsPrefix(SubSeq(log[q], 1, hw[q]), copy[f][q])}
    IN
    /\ pc[k] = "Controller"
    /\ leader[k] # Nobody
    /\ inside[q] = {}
    /\ leads' = [leads EXCEPT ![q] = TRUE]
    /\ epoch' = [epoch EXCEPT ![q] = @ + 1]
    /\ start' = [start EXCEPT ![q] = End(q)]
    /\ isr' = [isr EXCEPT ![q] = replicas]
    /\ hw' = [hw EXCEPT ![q] = Raised(q, Least(End(q), ends[q], replicas), End(q))]
    /\ leader' = [leader EXCEPT ![k] = Nobody]
    /\ ThenTrigger(k, Both(<<q>>), "Controller")
    /\ UNCHANGED <<log, ends, inside, others, requests, ready, todo, least, risen>>

-----------------------------------------------------------------------------

SharedStep(t) == ReadEnds(t) \/ Raise(t)

RequestStep(r) ==
    \/ AnswerAtOnce(r) \/ FirstTry(r) \/ Watch(r) \/ LastTry(r) \/ Trigger(r) \/ GetAnswer(r)

ProducerStep(p) == AppendRecord(p) \/ SharedStep(p) \/ RequestStep(p)

FollowerStep(f) ==
    Read(f) \/ NoteEnd(f) \/ SharedStep(f) \/ Expand(f) \/ RequestStep(f) \/ Receive(f)

ConsumerStep(c) == Read(c) \/ RequestStep(c)

WatchdogStep(d) == ShrinkIsr(d) \/ Trigger(d)

\* Followers wait for what is never produced.
Terminated ==
    /\ \A p \in Producers : pc[p] = "Done"
    /\ UNCHANGED vars

Next ==
    \/ \E p \in Producers : ProducerStep(p)
    \/ \E f \in Followers : FollowerStep(f)
    \/ \E f \in Followers : Stop(f)
    \/ \E c \in Consumers : ConsumerStep(c)
    \/ \E d \in Watchdogs : WatchdogStep(d)
    \/ \E d \in Watchdogs : DropSlow(d)
    \/ \E k \in Controllers, g \in Followers, q \in Partitions : Demote(k, g, q)
    \/ \E k \in Controllers : Follow(k)
    \/ \E k \in Controllers : Promote(k)
    \/ \E k \in Controllers : Trigger(k)
    \/ \E r \in Requests : Expire(r)
    \/ Terminated

Fairness ==
    /\ \A p \in Producers : WF_vars(ProducerStep(p))
    /\ \A f \in Followers : WF_vars(FollowerStep(f))
    /\ \A c \in Consumers : WF_vars(ConsumerStep(c))
    /\ \A d \in Watchdogs : WF_vars(WatchdogStep(d))
    /\ \A k \in Controllers : WF_vars(Trigger(k))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Invariants *)

Labels ==
    {"Append", "Read", "NoteEnd", "ReadEnds", "Raise", "Expand", "Answer", "FirstTry", "Watch",
     "LastTry", "Trigger", "Wait", "Done", "Stopped", "Watchdog", "Controller"}

Records == (0..(2 * MaxEpoch)) \X Producers

TypeOK ==
    /\ \A q \in Partitions :
        /\ Range(log[q]) \subseteq Records
        /\ hw[q] \in 0..End(q)
        /\ epoch[q] \in Nat
        /\ leads[q] \in BOOLEAN
        /\ start[q] \in 0..End(q)
        /\ isr[q] \subseteq Followers
        /\ ~leads[q] => isr[q] = {}
        /\ ends[q] \in [Followers -> Nat]
        /\ inside[q] \subseteq Producers \cup Followers
    /\ \A p \in Producers : status[p] \in [Partitions -> {"none", "pending", "ok", "refused"}]
    /\ produces \subseteq Producers
    /\ fetches \subseteq Fetchers
    /\ answer \in [Requests -> {"none", "ok", "refused", "timed_out"}]
    /\ ready \in [Fetchers -> {"none", "ok", "refused"}]
    /\ pc \in [Threads -> Labels]
    /\ risen \in [Threads -> SUBSET Partitions]

\* The exclusive side is not taken while somebody holds the shared one, and nobody forgets it.
SharedSideIsHeldInside ==
    \A q \in Partitions : inside[q] =
        {t \in Producers \cup Followers : pc[t] \in {"ReadEnds", "Raise"} /\ Head(todo[t]) = q}

Below(q) == SubSeq(log[q], 1, hw[q])

\* What lies below the high watermark is on every replica in sync.
WatermarkIsReplicated ==
    \A q \in Partitions : \A f \in isr[q] : IsPrefix(Below(q), copy[f][q])

LeaderKnowsNoMoreThanThereIs ==
    \A q \in Partitions : leads[q] =>
        \A f \in Followers : ends[q][f] <= Common(copy[f][q], log[q])

\* Finding 18: what is acknowledged is in the log, and on every replica that is still in sync.
AcknowledgedIsReplicated ==
    \A p \in Producers, q \in Partitions : status[p][q] = "ok" =>
        LET record == <<written[p][q], p>> IN
        /\ record \in Range(log[q])
        /\ \A f \in isr[q] : record \in Range(copy[f][q])

\* What a leader has taken in it refuses only after it has lost the partition, and a fetch only
\* where there was an election.
RefusedOnlyAfterAnElection ==
    /\ \A p \in Producers, q \in Partitions : status[p][q] = "refused" => epoch[q] > written[p][q]
    /\ \A x \in Fetchers : answer[x] = "refused" => \E q \in Range(Asks[x]) : epoch[q] > 0

ConsumersReadBelowTheWatermark ==
    \A c \in Consumers, q \in Partitions : IsPrefix(received[c][q], Below(q))

RECURSIVE SizeOf(_, _)
SizeOf(x, partitions) ==
    IF partitions = {}
    THEN 0
    ELSE LET q == CHOOSE one \in partitions : TRUE
         IN  Len(received[x][q]) + SizeOf(x, partitions \ {q})

\* Unless it expired or was refused, a fetch is answered with what it asked for (5.2): a follower's
\* with what it has not.
FetchesGetEnough ==
    /\ \A c \in Consumers \ Expiring : answer[c] = "ok" => SizeOf(c, Partitions) >= MinBytes[c]
    /\ \A f \in Followers \ Expiring : answer[f] = "ok" =>
        \E q \in Partitions : Len(received[f][q]) > Len(copy[f][q])

OnlyExpiredProducesTimeOut ==
    \A r \in Requests : answer[r] = "timed_out" => r \in Producers \cap Expiring

\* An answer in time has something to say of each partition.
AnAnswerTellsOfEachPartition ==
    \A p \in Producers : answer[p] = "ok" =>
        \A q \in Range(Asks[p]) : status[p][q] \in {"ok", "refused"}

\* What a call needs is gone when it ends.
CallsLeaveNothingBehind ==
    \A t \in Threads : pc[t] \in {"Wait", "Done", "Stopped", "Watchdog", "Controller"} =>
        /\ least[t] = 0 /\ risen[t] = {} /\ triggers[t] = <<>>
        /\ pc[t] \in {"Wait", "Done"} /\ t \in Fetchers => ready[t] = "none"
        /\ pc[t] = "Wait" /\ t \notin Consumers => todo[t] = <<>>

\* It is tried, watched, tried again, and then it waits (2.4).
RequestsAreWatchedOnce == \A r \in Requests : pc[r] = "Watch" => r \notin produces \cup fetches

\* What a fetch has read belongs to one answer.
OpenFetchesHoldNothing ==
    \A x \in Fetchers, q \in Partitions : Open(x) /\ ready[x] = "none" => received[x][q] = <<>>

(* Action properties *)

WatermarkNeverGoesBack == [][\A q \in Partitions : hw'[q] >= hw[q]]_vars

\* Rule 5.4.1: who leads from now on, or does no more, does so in a newer epoch.
WhoLeadsChangesWithTheEpoch ==
    [][\A q \in Partitions : leads'[q] # leads[q] => epoch'[q] > epoch[q]]_vars

\* Rule 5.4.3.
OnlyAFollowerTruncates ==
    [][\A q \in Partitions : leads[q] => IsPrefix(log[q], log'[q])]_vars

\* Where a follower is, is noted by the leader that its fetch is meant for (5.4).
FetchesAreNotedByTheLeaderTheyMean ==
    [][\A q \in Partitions, f \in Followers :
        ends'[q][f] > ends[q][f] => leads[q] /\ sent[f][q] = epoch[q]]_vars

\* Rule 5.4.4: who is in sync again has all that is older than the epoch.  When an epoch begins, who
\* is in sync counts as caught up (5.4.2).
WhoRejoinsHasWhatIsOlderThanTheEpoch ==
    [][\A q \in Partitions : \A f \in isr'[q] \ isr[q] : epoch'[q] = epoch[q] =>
        \A i \in DOMAIN log[q] : log[q][i][1] < epoch[q] => i <= Len(copy[f][q])]_vars

AnswersAreFinal ==
    [][\A r \in Producers \cup Consumers : ~Open(r) => answer'[r] = answer[r]]_vars

-----------------------------------------------------------------------------
(* Liveness: with no time-out to help *)

\* Every append is replicated by those in sync, and then acknowledged; or this broker leads no more.
ProducesAreAnswered == \A p \in Producers : pc[p] # "Append" ~> ~Open(p)

\* Rule 5.5.1: what all in sync have, is below the high watermark at last.
WatermarkRises ==
    \A q \in Partitions : \A n \in 1..Cardinality(Producers) :
        leads[q] /\ End(q) >= n /\ (\A f \in isr[q] : Len(copy[f][q]) >= n)
            ~> hw[q] >= n \/ ~leads[q]

FetchesWithEnoughBytesAreAnswered ==
    \A c \in Consumers : Sum(c, Range(Asks[c])) >= MinBytes[c] ~> ~Open(c)

FollowersGetEverything ==
    \A f \in Followers \ Mortal, q \in Partitions : \A n \in 1..Cardinality(Producers) :
        End(q) >= n /\ q \in Range(Asks[f]) ~> Len(copy[f][q]) >= n

\* A follower that has fallen behind and goes on is in sync again.
WhoCatchesUpIsInSyncAgain ==
    \A f \in Followers \ Mortal, q \in Partitions : f \notin isr[q] ~> f \in isr[q]
=============================================================================
