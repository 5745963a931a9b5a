----------------------------- MODULE Accumulator -----------------------------
(***************************************************************************)
(* What an accumulator of records promises: records wait in the order in   *)
(* which they came to their partition, until each has one outcome.         *)
(*                                                                         *)
(* Source.       standard 4.1, 4.6, 4.9 - 4.11.                            *)
(* Kafka.        RecordAccumulator: append, drain, deallocate.             *)
(* Abstraction.  No batches, no memory, no threads, no requests.  Records  *)
(*               that end together have been in one batch.                 *)
(* Atomicity.    A record is taken in one step, and records of a partition *)
(*               end in one step, with all their callbacks.                *)
(* Fairness.     None: RecordAccumulator says what has to happen at last.  *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences

CONSTANTS
    AllRecords,     \* the records that may come
    Keys,           \* the partitions
    KeyOf,          \* record -> its partition
    KeepsOrder      \* whether the records of a partition end in the order in which they came

ASSUME KeyOf \in [AllRecords -> Keys]
ASSUME KeepsOrder \in BOOLEAN

VARIABLES
    waiting,        \* partition -> its records that have no outcome, in the order of appends
    fate,           \* record -> "unknown", "waiting", or its outcome
    shut            \* whether records are refused

vars == <<waiting, fate, shut>>

Outcomes == {"succeeded", "expired", "aborted"}

Members(sequence) == {sequence[i] : i \in DOMAIN sequence}

Init ==
    /\ waiting = [k \in Keys |-> <<>>]
    /\ fate = [r \in AllRecords |-> "unknown"]
    /\ shut = FALSE

\* append: at the end of its partition.
Take(r) ==
    /\ ~shut
    /\ fate[r] = "unknown"
    /\ waiting' = [waiting EXCEPT ![KeyOf[r]] = Append(@, r)]
    /\ fate' = [fate EXCEPT ![r] = "waiting"]
    /\ UNCHANGED shut

\* Records end: the first ones, if order is kept.
Finish(k, records, outcome) ==
    /\ records # {}
    /\ KeepsOrder => records = Members(SubSeq(waiting[k], 1, Cardinality(records)))
    /\ waiting' = [waiting EXCEPT ![k] = SelectSeq(@, LAMBDA r : r \notin records)]
    /\ fate' = [r \in AllRecords |-> IF r \in records THEN outcome ELSE fate[r]]
    /\ UNCHANGED shut

Shut ==
    /\ ~shut
    /\ shut' = TRUE
    /\ UNCHANGED <<waiting, fate>>

Next ==
    \/ \E r \in AllRecords : Take(r)
    \/ \E k \in Keys, outcome \in Outcomes :
        \E records \in SUBSET Members(waiting[k]) : Finish(k, records, outcome)
    \/ Shut

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

TypeOK ==
    /\ waiting \in [Keys -> Seq(AllRecords)]
    /\ fate \in [AllRecords -> Outcomes \cup {"unknown", "waiting"}]
    /\ shut \in BOOLEAN

\* Nothing is lost, and nothing is there twice.
RecordWaitsOnceOrHasItsOutcome ==
    \A r \in AllRecords :
        Cardinality({<<k, i>> \in UNION {{k} \X DOMAIN waiting[k] : k \in Keys} :
            waiting[k][i] = r}) = (IF fate[r] = "waiting" THEN 1 ELSE 0)

OutcomeIsFinal == [][\A r \in AllRecords : fate[r] \in Outcomes => fate'[r] = fate[r]]_vars

NothingComesAfterShut ==
    [][\A r \in AllRecords : shut => (fate[r] = "unknown" <=> fate'[r] = "unknown")]_vars

\* Of two records of a partition the later one never ends first, if order is kept.
OrderIsKept ==
    [][KeepsOrder => \A k \in Keys : \A i, j \in DOMAIN waiting[k] :
        i < j /\ fate'[waiting[k][j]] # "waiting" => fate'[waiting[k][i]] # "waiting"]_vars
=============================================================================
