----------------------------- MODULE MCAcksAll -----------------------------
(* AcksAll with a few of each: it is finite, since the clock stands still where nobody waits. *)
EXTENDS AcksAll, MCProduceFetch

\* Two requests, which are alike: the second one is appended when the first one waits, and then
\* everybody goes on.
OneAfterTheOther ==
    CASE pc["p1"] \notin {"Trigger", "Wait", "Done"} -> MovesAlone("p1")
      [] pc["p2"] \in {"Append", "ReadEnds", "Raise"} -> MovesAlone("p2")
      [] OTHER -> TRUE

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

\* The timer is as late as it may be.
WitnessLate == ~\E p \in Producers : now = asked[p] + Timeout + Lateness /\ Open(p)

\* The request is answered while its time-out is due.
WitnessAnsweredAsItTimesOut ==
    ~\E p \in Producers : answer[p] = "ok" /\ timed[p] = "waiting" /\ due[p] <= now

\* While a trigger goes through what it has found, the time runs out for what it has yet to try.
WitnessTimedOutUnderATrigger ==
    ~\E t \in Threads : GoesThrough(t) /\ \E p \in Head(triggers[t])[3] : answer[p] = "timed_out"

\* A trigger has found both requests and tries the second one while the first one has its answer.
WitnessTriesBoth ==
    ~\E t \in Threads : GoesThrough(t) /\ Head(triggers[t])[3] = {"p1"} /\ answer["p2"] = "ok"
=============================================================================
