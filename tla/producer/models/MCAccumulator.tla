---------------------------- MODULE MCAccumulator ----------------------------
(* Accumulator with a few records of two partitions. *)
EXTENDS Accumulator

MCKeyOf == [r \in AllRecords |-> IF r = "other" THEN "q2" ELSE "q1"]

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

WitnessTwoEndTogether ==
    ~\E r, s \in AllRecords : r # s /\ fate[r] = "expired" /\ fate[s] = "expired"

WitnessLeftWhenShut == ~(shut /\ \E k \in Keys : waiting[k] # <<>>)
=============================================================================
