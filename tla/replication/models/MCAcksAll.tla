----------------------------- MODULE MCAcksAll -----------------------------
(* AcksAll with a few of each: it is finite, since the clock stands still where nobody waits. *)
EXTENDS AcksAll, MCProduceFetch

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
=============================================================================
