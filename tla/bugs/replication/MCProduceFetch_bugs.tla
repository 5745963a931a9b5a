------------------------ MODULE MCProduceFetch_bugs -------------------------
(* What replaces an action or an operator of ProduceFetch to break a claim. *)
EXTENDS MCProduceFetch

\* The high watermark moves, and nobody asks the produce purgatory.
PassOverProduces(t) ==
    /\ pc[t] = "TriggerProduce"
    /\ Go(t, "TriggerFetch")
    /\ UNCHANGED <<leo, hw, isr, ends, log, required, produces, fetches, answer, received>>

PassOverFetches(t) ==
    /\ pc[t] = "TriggerFetch"
    /\ Go(t, AfterTriggers(t))
    /\ UNCHANGED <<leo, hw, isr, ends, log, required, produces, fetches, answer, received>>

\* A replica is left out, and nobody is told.
ShrinkSilently(d) ==
    /\ pc[d] = "ShrinkIsr"
    /\ \E f \in isr :
        /\ pc[f] = "Stopped"
        /\ isr' = isr \ {f}
        /\ hw' = Watermark(leo, ends, isr \ {f})
    /\ UNCHANGED <<leo, ends, log, required, produces, fetches, answer, received, pc>>

\* The predicate is not tested again after the watch.
WatchAndWait(r) ==
    /\ pc[r] = "Watch"
    /\ produces' = produces \cup ({r} \cap Producers)
    /\ fetches' = fetches \cup ({r} \cap Fetchers)
    /\ Go(r, "Wait")
    /\ UNCHANGED <<leo, hw, isr, ends, log, required, answer, received>>

\* The high watermark is the leader's end; it begins again with each append; a follower's end
\* is what it is sent.
WatermarkOfTheLeader(end, known, replicas) == end

WatermarkGoesBack(end, known, replicas) ==
    IF end > leo THEN 0 ELSE Least({end} \cup {known[f] : f \in replicas})

SendFetchTooMuch(f) ==
    /\ pc[f] = "SendFetch"
    /\ ends' = [ends EXCEPT ![f] = leo]
    /\ answer' = [answer EXCEPT ![f] = "none"]
    /\ Go(f, "TriggerProduce")
    /\ UNCHANGED <<leo, hw, isr, log, required, produces, fetches, received>>

\* acks = 1 for all.
SatisfiedByTheAppend(r) ==
    CASE r \in Producers -> leo >= required[r]
      [] r \in Followers -> leo > log[r]
      [] r \in Consumers -> hw >= MinBytes[r]

\* A fetch waits while it has too much.
SatisfiedByTooLittle(r) ==
    CASE r \in Producers -> hw >= required[r]
      [] r \in Followers -> leo > log[r]
      [] r \in Consumers -> hw < MinBytes[r]

ReadToTheEnd(x) == leo

\* The trigger answers with what expiry does, or does not ask whether the request was answered.
TriggerAgain(t, waiting) ==
    LET done == {r \in waiting : Satisfied(r)}
    IN Answer(done, IF t \in Followers THEN "ok" ELSE "timed_out")

TriggerOk(t, waiting) == Answer({r \in waiting : Satisfied(r)}, "ok")

\* A follower waits for two records.
SatisfiedLater(r) ==
    CASE r \in Producers -> hw >= required[r]
      [] r \in Followers -> leo > log[r] + 1
      [] r \in Consumers -> hw >= MinBytes[r]
=============================================================================
