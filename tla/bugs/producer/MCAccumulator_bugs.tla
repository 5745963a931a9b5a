-------------------------- MODULE MCAccumulator_bugs --------------------------
(* What replaces an action of Accumulator to break a claim. *)
EXTENDS MCAccumulator

\* Any records of the partition end.
FinishAny(k, records, outcome) ==
    /\ records # {}
    /\ waiting' = [waiting EXCEPT ![k] = SelectSeq(@, LAMBDA r : r \notin records)]
    /\ fate' = [r \in AllRecords |-> IF r \in records THEN outcome ELSE fate[r]]
    /\ UNCHANGED shut

\* A record stays where it was when it ends.
FinishInPlace(k, records, outcome) ==
    /\ records # {}
    /\ fate' = [r \in AllRecords |-> IF r \in records THEN outcome ELSE fate[r]]
    /\ UNCHANGED <<waiting, shut>>

\* It is not asked whether records are refused.
TakeAlways(r) ==
    /\ fate[r] = "unknown"
    /\ waiting' = [waiting EXCEPT ![KeyOf[r]] = Append(@, r)]
    /\ fate' = [fate EXCEPT ![r] = "waiting"]
    /\ UNCHANGED shut
=============================================================================
