------------------------ MODULE MCProduceFetch_bugs -------------------------
(* What replaces an action or an operator of ProduceFetch to break a claim. *)
EXTENDS MCProduceFetch

\* The high watermark moves, and nobody asks the produce purgatory; or the fetch purgatory.
NoProduces(keys) == Named("fetch", keys)

NoFetches(keys) == Named("produce", keys)

\* Checks are made before the request is tried and watched: nobody checks for it afterwards.
CheckNothing(r) ==
    /\ risen' = [risen EXCEPT ![r] = {}]
    /\ Go(r, "Wait")
    /\ UNCHANGED triggers

\* The predicate is not tested again after the watch.
WatchAndWait(r) ==
    /\ pc[r] = "LastTry"
    /\ ThenCheck(r)
    /\ UNCHANGED <<partition, others, requests, ready, todo, least, leader>>

\* The high watermark is the leader's end; it is set, not raised.
LeastOfTheLeader(end, known, replicas) == end

SetTo(q, offset, end) == Min(offset, end)

\* The leader takes a follower to be where its answer will lead it.
NoteTooMuch(f) ==
    LET q == Head(todo[f]) IN
    /\ pc[f] = "NoteEnd"
    /\ Enter(f, q)
    /\ ends' = [ends EXCEPT ![q][f] = End(q)]
    /\ Go(f, "ReadEnds")
    /\ UNCHANGED <<log, hw, epoch, leads, start, isr, others, requests, ready, todo, least, risen,
                   triggers, leader>>

\* acks = 1 for all.
AcknowledgedByTheAppend(p, q) == "ok"

\* A fetch waits while it has too much.
EnoughIsTooMuch(x) == IF x \in Followers THEN 1 ELSE MinBytes[x] - 1

\* A follower waits for two records.
EnoughLater(x) == IF x \in Followers THEN 2 ELSE MinBytes[x]

ReadToTheEnd(x, q) == End(q)

\* A produce is answered when one of its partitions is.
SatisfiedByOne(r) ==
    IF r \in Producers
    THEN \E q \in Partitions : Statuses(r)[q] # "pending"
    ELSE Refuses(r) \/ Sum(r, Range(Asks[r])) >= Enough(r)

\* What is completed gets the answer of an expiry.
TimedOut(r) == IF r \in Followers THEN "ok" ELSE "timed_out"

\* A trigger does not ask whether a request has been answered.
TriggerAgain(t) ==
    LET found == WaitingUnder(Head(triggers[t])) IN
    /\ pc[t] = "Trigger"
    /\ Answer(found, {r \in found : Satisfied(r)})
    /\ produces' = {p \in produces : p \notin found \/ answer'[p] = "none"}
    /\ fetches' = {x \in fetches : x \notin found \/ answer'[x] = "none"}
    /\ triggers' = [triggers EXCEPT ![t] = Tail(@)]
    /\ Go(t, IF Len(triggers[t]) > 1 THEN "Trigger" ELSE AfterTriggers(t))
    /\ UNCHANGED <<partition, others, required, written, ready, todo, least, risen, leader>>

\* Kafka's own (finding 18): whoever leads, and whatever stands at the offset.
HoldsAnything(p, q) == TRUE

\* An election is told to nobody.
SilentChecks(keys) == <<>>

\* A replica is left out, and nobody is told.
TriggerNothing(t, checks, otherwise) == Go(t, otherwise) /\ UNCHANGED triggers

\* A fetch does not say which leader it means.
FencesNobody(x, q) == FALSE

\* The shared side keeps nobody out.
EnterUnseen(t, q) == UNCHANGED inside

\* A replica is in sync again whatever it has; or never.
RejoinAtOnce(f, q, end) == f \in Followers \ isr[q]

RejoinNever(f, q, end) == FALSE

\* A request does not forget where it has raised the high watermark.
CheckAndForgetNothing(r) ==
    /\ triggers' = [triggers EXCEPT ![r] = Checks(r)]
    /\ Go(r, IF Checks(r) = <<>> THEN "Wait" ELSE "Trigger")
    /\ UNCHANGED risen
\* A fetch is answered whether there is something or not.
EnoughIsNothing(x) == 0

\* A leader does not find the record that it has appended.
HoldsNothing(p, q) == FALSE

\* Fetches get what they asked for, and are told that they were refused.
FetchesAreRefused(r) == IF r \in Fetchers THEN "refused" ELSE "ok"

\* The next fetch begins with what the last one has read.
ReceiveAndKeep(f) ==
    /\ pc[f] = "Wait"
    /\ ~Open(f)
    /\ copy' = [copy EXCEPT ![f] = received[f]]
    /\ answer' = [answer EXCEPT ![f] = "none"]
    /\ todo' = [todo EXCEPT ![f] = Asks[f]]
    /\ sent' = [sent EXCEPT ![f] = epoch]
    /\ fetches' = fetches \ {f}
    /\ Go(f, "Read")
    /\ UNCHANGED <<partition, required, written, status, produces, received, ready, least, risen,
                   triggers, leader>>

\* A request that is not done is watched and tried again and again.
LastTryAndWatch(r) ==
    /\ pc[r] = "LastTry"
    /\ Try(r, "Watch")
    /\ UNCHANGED <<partition, others, required, written, produces, fetches, ready, todo, least,
                   leader>>

\* A fetch is answered as soon as there is a byte, however many its caller waits for.
OneIsEnough(x) == 1

\* A follower is in sync again at the high watermark, wherever the epoch began.
RejoinAtTheWatermark(f, q, end) == f \in Followers \ isr[q] /\ end >= hw[q]

\* This broker leads again in the epoch of the other one.
PromoteInItsEpoch(k) ==
    LET q == leader[k][2] IN
    /\ pc[k] = "Controller"
    /\ leader[k] # Nobody
    /\ inside[q] = {}
    /\ leads' = [leads EXCEPT ![q] = TRUE]
    /\ leader' = [leader EXCEPT ![k] = Nobody]
    /\ ThenTrigger(k, Both(<<q>>), "Controller")
    /\ UNCHANGED <<log, hw, epoch, start, isr, ends, inside, others, requests, ready, todo, least, risen>>

\* A leader cuts off what is not replicated yet.
TruncateAsTheLeader(k) ==
    \E q \in Partitions :
        /\ leads[q] /\ inside[q] = {} /\ hw[q] < End(q)
        /\ log' = [log EXCEPT ![q] = Below(q)]
        /\ UNCHANGED <<hw, epoch, leads, start, isr, ends, inside, others, requests, pc, registers>>

\* The high watermark stays one record behind what all have.
RaisedShort(q, offset, end) == Max(hw[q], Min(offset, end) - 1)
=============================================================================
