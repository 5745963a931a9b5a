---------------------------- MODULE ProduceFetch ----------------------------
(***************************************************************************)
(* How produce and fetch requests that wait complete each other: appends   *)
(* let fetches go, fetches of followers move the high watermark, and that  *)
(* lets produces and fetches of consumers go.                              *)
(*                                                                         *)
(* Source.       semantics.md 2.13 - 2.15.                                 *)
(* Abstraction.  One partition.  A record is one byte, an append one       *)
(*               record, acks is all.  Both purgatories are what           *)
(*               Purgatory is shown to be: a set of waiting requests, and  *)
(*               a trigger that completes those in it whose predicate      *)
(*               holds.  Elections and truncation are left out.            *)
(* Atomicity.    One step for an append, for a follower's end being noted, *)
(*               for a change of the in-sync replicas, each together with  *)
(*               the new high watermark: these are done under the          *)
(*               partition's locks.  One step for each trigger of a        *)
(*               purgatory, each attempt of a request, each watch, each    *)
(*               answer that a follower takes in.                          *)
(* Fairness.     Weak, for each thread.  Requests need not expire, and     *)
(*               followers need not stop; one that has stopped is taken    *)
(*               for out of sync in the end.                               *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    Producers,      \* threads that produce one record each, and want it replicated
    Followers,      \* replicas that fetch again and again; all in sync at first
    Mortal,         \* those of them that may stop
    Consumers,      \* threads that fetch once, from the beginning
    MinBytes,       \* consumer -> how many bytes it waits for
    Watchdogs,      \* the thread that looks for replicas out of sync: one at most
    Expiring        \* the producers, followers and consumers whose requests may expire

ASSUME Mortal \subseteq Followers
ASSUME MinBytes \in [Consumers -> Nat \ {0}]
ASSUME Cardinality(Watchdogs) <= 1

VARIABLES
    leo,            \* the leader's log end offset
    hw,             \* its high watermark
    isr,            \* the followers in sync
    ends,           \* follower -> its log end offset, as the leader knows it
    log,            \* follower -> its log end offset
    required,       \* producer -> the high watermark that it waits for
    produces,       \* the producers watched in the produce purgatory
    fetches,        \* the followers and consumers watched in the fetch purgatory
    answer,         \* request -> "none", "ok", or "timed_out"
    received,       \* follower or consumer -> the end of what its answer holds
    pc              \* thread -> its next step

vars == <<leo, hw, isr, ends, log, required, produces, fetches, answer, received, pc>>

Fetchers == Followers \cup Consumers
Requests == Producers \cup Fetchers
Threads == Requests \cup Watchdogs

Go(t, label) == pc' = [pc EXCEPT ![t] = label]

Init ==
    /\ leo = 0
    /\ hw = 0
    /\ isr = Followers
    /\ ends = [f \in Followers |-> 0]
    /\ log = [f \in Followers |-> 0]
    /\ required = [p \in Producers |-> 0]
    /\ produces = {}
    /\ fetches = {}
    /\ answer = [r \in Requests |-> "none"]
    /\ received = [x \in Fetchers |-> 0]
    /\ pc = [t \in Threads |->
            CASE t \in Producers -> "Append"
              [] t \in Followers -> "SendFetch"
              [] t \in Consumers -> "FirstTry"
              [] t \in Watchdogs -> "ShrinkIsr"]

-----------------------------------------------------------------------------
(* The high watermark: the least end of those in sync, and never less than before *)

Least(numbers) == CHOOSE n \in numbers : \A m \in numbers : n <= m

Watermark(end, known, replicas) ==
    LET least == Least({end} \cup {known[f] : f \in replicas})
    IN IF least > hw THEN least ELSE hw

-----------------------------------------------------------------------------
(* What a request waits for (2.13, 2.14), and its answer *)

Satisfied(r) ==
    CASE r \in Producers -> hw >= required[r]
      [] r \in Followers -> leo > log[r]
      [] r \in Consumers -> hw >= MinBytes[r]

\* A follower reads up to the end of the log, a consumer up to the high watermark.
ReadableEnd(x) == IF x \in Followers THEN leo ELSE hw

\* The log is read again when a fetch is answered.
Answer(requests, how) ==
    /\ answer' = [r \in Requests |-> IF r \in requests THEN how ELSE answer[r]]
    /\ received' = [x \in Fetchers |-> IF x \in requests THEN ReadableEnd(x) ELSE received[x]]

Open(r) == answer[r] = "none"

-----------------------------------------------------------------------------
(* append_records (2.15) *)

Append(p) ==
    /\ pc[p] = "Append"
    /\ leo' = leo + 1
    /\ hw' = Watermark(leo + 1, ends, isr)
    /\ required' = [required EXCEPT ![p] = leo + 1]
    /\ Go(p, "TriggerProduce")
    /\ UNCHANGED <<isr, ends, log, produces, fetches, answer, received>>

-----------------------------------------------------------------------------
(* fetch_messages of a follower: its offset tells the leader how far it is *)

SendFetch(f) ==
    /\ pc[f] = "SendFetch"
    /\ ends' = [ends EXCEPT ![f] = log[f]]
    /\ hw' = Watermark(leo, [ends EXCEPT ![f] = log[f]], isr)
    /\ answer' = [answer EXCEPT ![f] = "none"]
    /\ Go(f, "TriggerProduce")
    /\ UNCHANGED <<leo, isr, log, required, produces, fetches, received>>

Receive(f) ==
    /\ pc[f] = "Receive"
    /\ log' = [log EXCEPT ![f] = received[f]]
    /\ Go(f, "SendFetch")
    /\ UNCHANGED <<leo, hw, isr, ends, required, produces, fetches, answer, received>>

Stop(f) ==
    /\ f \in Mortal
    /\ pc[f] \in {"SendFetch", "Receive"}
    /\ Go(f, "Stopped")
    /\ UNCHANGED <<leo, hw, isr, ends, log, required, produces, fetches, answer, received>>

-----------------------------------------------------------------------------

\* A follower that has stopped keeps the high watermark back until it is left out.
ShrinkIsr(d) ==
    /\ pc[d] = "ShrinkIsr"
    /\ \E f \in isr :
        /\ pc[f] = "Stopped"
        /\ isr' = isr \ {f}
        /\ hw' = Watermark(leo, ends, isr \ {f})
    /\ Go(d, "TriggerProduce")
    /\ UNCHANGED <<leo, ends, log, required, produces, fetches, answer, received>>

-----------------------------------------------------------------------------
(* Triggers, outside the partition's locks *)

AfterTriggers(t) == IF t \in Watchdogs THEN "ShrinkIsr" ELSE "FirstTry"

Trigger(t, waiting) == LET done == {r \in waiting : Open(r) /\ Satisfied(r)} IN Answer(done, "ok")

\* check_and_complete of the produce purgatory, which drops what is done.
TriggerProduce(t) ==
    /\ pc[t] = "TriggerProduce"
    /\ Trigger(t, produces)
    /\ produces' = {r \in produces : answer'[r] = "none"}
    /\ Go(t, "TriggerFetch")
    /\ UNCHANGED <<leo, hw, isr, ends, log, required, fetches>>

\* check_and_complete of the fetch purgatory.
TriggerFetch(t) ==
    /\ pc[t] = "TriggerFetch"
    /\ Trigger(t, fetches)
    /\ fetches' = {r \in fetches : answer'[r] = "none"}
    /\ Go(t, AfterTriggers(t))
    /\ UNCHANGED <<leo, hw, isr, ends, log, required, produces>>

-----------------------------------------------------------------------------
(* try_complete_else_watch (2.4) *)

Try(r, otherwise) ==
    IF Open(r) /\ Satisfied(r)
    THEN Answer({r}, "ok") /\ Go(r, "Wait")
    ELSE UNCHANGED <<answer, received>> /\ Go(r, otherwise)

FirstTry(r) ==
    /\ pc[r] = "FirstTry"
    /\ Try(r, "Watch")
    /\ UNCHANGED <<leo, hw, isr, ends, log, required, produces, fetches>>

Watch(r) ==
    /\ pc[r] = "Watch"
    /\ produces' = produces \cup ({r} \cap Producers)
    /\ fetches' = fetches \cup ({r} \cap Fetchers)
    /\ Go(r, "LastTry")
    /\ UNCHANGED <<leo, hw, isr, ends, log, required, answer, received>>

LastTry(r) ==
    /\ pc[r] = "LastTry"
    /\ Try(r, "Wait")
    /\ UNCHANGED <<leo, hw, isr, ends, log, required, produces, fetches>>

\* The answer has come.
GetAnswer(r) ==
    /\ pc[r] = "Wait"
    /\ ~Open(r)
    /\ Go(r, IF r \in Followers THEN "Receive" ELSE "Done")
    /\ UNCHANGED <<leo, hw, isr, ends, log, required, produces, fetches, answer, received>>

\* A produce answers with a time-out, a fetch with what there is.
Expire(r) ==
    /\ r \in Expiring
    /\ pc[r] = "Wait"
    /\ Open(r)
    /\ Answer({r}, IF r \in Producers THEN "timed_out" ELSE "ok")
    /\ UNCHANGED <<leo, hw, isr, ends, log, required, produces, fetches, pc>>

-----------------------------------------------------------------------------

RequestStep(r) == FirstTry(r) \/ Watch(r) \/ LastTry(r) \/ GetAnswer(r)

TriggerStep(t) == TriggerProduce(t) \/ TriggerFetch(t)

ProducerStep(p) == Append(p) \/ TriggerStep(p) \/ RequestStep(p)

FollowerStep(f) == SendFetch(f) \/ TriggerStep(f) \/ RequestStep(f) \/ Receive(f)

WatchdogStep(d) == ShrinkIsr(d) \/ TriggerStep(d)

\* Followers wait for what is never produced.
Terminated ==
    /\ \A p \in Producers : pc[p] = "Done"
    /\ UNCHANGED vars

Next ==
    \/ \E p \in Producers : ProducerStep(p)
    \/ \E f \in Followers : FollowerStep(f) \/ Stop(f)
    \/ \E c \in Consumers : RequestStep(c)
    \/ \E d \in Watchdogs : WatchdogStep(d)
    \/ \E r \in Requests : Expire(r)
    \/ Terminated

Fairness ==
    /\ \A p \in Producers : WF_vars(ProducerStep(p))
    /\ \A f \in Followers : WF_vars(FollowerStep(f))
    /\ \A c \in Consumers : WF_vars(RequestStep(c))
    /\ \A d \in Watchdogs : WF_vars(WatchdogStep(d))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Invariants *)

Labels ==
    {"Append", "TriggerProduce", "TriggerFetch", "FirstTry", "Watch", "LastTry", "Wait", "Done",
     "SendFetch", "Receive", "Stopped", "ShrinkIsr"}

TypeOK ==
    /\ leo \in Nat
    /\ hw \in 0..leo
    /\ isr \subseteq Followers
    /\ ends \in [Followers -> 0..leo]
    /\ log \in [Followers -> 0..leo]
    /\ required \in [Producers -> 0..leo]
    /\ produces \subseteq Producers
    /\ fetches \subseteq Fetchers
    /\ answer \in [Requests -> {"none", "ok", "timed_out"}]
    /\ received \in [Fetchers -> 0..leo]
    /\ pc \in [Threads -> Labels]

\* What lies below the high watermark is on every replica in sync.
WatermarkIsReplicated == \A f \in isr : log[f] >= hw

LeaderKnowsNoMoreThanThereIs == \A f \in Followers : ends[f] <= log[f]

\* What is acknowledged is on every replica that is still in sync.
AcknowledgedIsReplicated ==
    \A p \in Producers : answer[p] = "ok" => \A f \in isr : log[f] >= required[p]

ConsumersReadBelowTheWatermark == \A c \in Consumers : received[c] <= hw

\* Unless it expired, a fetch is answered with what it asked for (2.14).
FetchesGetEnough ==
    \A c \in Consumers : answer[c] = "ok" /\ c \notin Expiring => received[c] >= MinBytes[c]

OnlyExpiredProducesTimeOut ==
    \A r \in Requests : answer[r] = "timed_out" => r \in Producers \cap Expiring

(* Action properties *)

WatermarkNeverGoesBack == [][hw' >= hw]_vars

AnswersAreFinal ==
    [][\A r \in Producers \cup Consumers : ~Open(r) => answer'[r] = answer[r]]_vars

-----------------------------------------------------------------------------
(* Liveness: with no time-out to help *)

\* Every append is replicated by those in sync, and then acknowledged.
ProducesAreAnswered == \A p \in Producers : pc[p] # "Append" ~> ~Open(p)

FetchesWithEnoughBytesAreAnswered ==
    \A c \in Consumers : hw >= MinBytes[c] ~> ~Open(c)

FollowersGetEverything == \A f \in Followers \ Mortal : \A n \in 1..Cardinality(Producers) :
    leo >= n ~> log[f] >= n
=============================================================================
