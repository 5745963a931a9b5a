--------------------------- MODULE MCProduceFetch ---------------------------
(* ProduceFetch with a few of each: it is finite as it is. *)
EXTENDS ProduceFetch

\* Consumers want everything that is produced.
MCMinBytes == [c \in Consumers |-> Cardinality(Producers)]

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

\* A watched produce is completed by the fetch of a follower.
WitnessFollowerCompletesProduce ==
    ~\E f \in Followers, p \in produces : pc[f] = "TriggerProduce" /\ Open(p) /\ Satisfied(p)

\* The event comes between the first attempt and the watch.
WitnessLastAttempt == ~\E r \in Requests : pc[r] = "LastTry" /\ Open(r) /\ Satisfied(r)

\* A replica that has stopped is left out, and that moves the high watermark.
WitnessShrinkCompletesProduce ==
    ~\E d \in Watchdogs, p \in produces : pc[d] = "TriggerProduce" /\ Open(p) /\ Satisfied(p)

WitnessTimedOut == ~\E p \in Producers : answer[p] = "timed_out"
=============================================================================
