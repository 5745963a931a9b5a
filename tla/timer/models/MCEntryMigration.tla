-------------------------- MODULE MCEntryMigration --------------------------
(* EntryMigration with at most three entries, two or three buckets, and who adds what where. *)
EXTENDS EntryMigrationProof

\* e1 belongs to k1; e2 to k2 if there is a second task, else it is the second add of k1; so e3.
MCTaskOf ==
    [e \in Entries |->
        CASE e = "e2" /\ "k2" \in Tasks -> "k2"
          [] e = "e3" /\ "k3" \in Tasks -> "k3"
          [] OTHER -> "k1"]

MCEntryOf ==
    [t \in Adders \cup Movers |-> CASE t = "a2" -> "e2" [] t = "a3" -> "e3" [] OTHER -> "e1"]

MCVictim ==
    [c \in Cancellers |->
        CASE c = "c2" /\ "k2" \in Tasks -> "k2"
          [] c = "c3" /\ "k3" \in Tasks -> "k3"
          [] OTHER -> "k1"]

MCBelow ==
    [b \in Buckets |->
        CASE b = "upper" -> IF "middle" \in Buckets THEN "middle" ELSE "lower"
          [] b = "middle" -> "lower"
          [] b = "lower" -> Expired]

\* The second thread adds where the first one's entry will come down to.
MCBucketOf == [t \in Adders \cup Movers |-> IF t = "a1" THEN "upper" ELSE "lower"]

\* The second add is of a task that is due at once.
DueAtOnce ==
    [t \in Adders \cup Movers |-> IF t = "a2" THEN Expired ELSE MCBucketOf[t]]

-----------------------------------------------------------------------------
(* Claims that one might make, and that do not hold *)

\* Rule 1.11 says otherwise.
NoCancelledEntryIsLinked == \A e \in withdrawn : ~Linked(e)

\* Nothing is counted while an entry moves down.
SizeCountsEveryWaitingTask ==
    \A a \in Adders : pc[a] = "Done" /\ Bound(EntryOf[a]) => counter > 0

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

WitnessLeftover == NoCancelledEntryIsLinked

\* An entry is linked though a later add has replaced it and been submitted.
WitnessReplacedLeftover ==
    ~\E e \in replaced : Linked(e) /\ \E d \in Entries : submissions[d] > 0

\* A leftover is found by the flush of its bucket.
WitnessDoomed == doomed = {}

\* A removal goes to a bucket which the entry has left for another one (KAFKA-2226).
WitnessStaleList ==
    ~\E c \in Cancellers :
        pc[c] = "RemoveTest" /\ list[at[c]] \notin {holder[c], None}

\* The canceller's compare-and-set finds that the flusher has been faster.
WitnessCancelTooLate == ~\E c \in Cancellers : pc[c] = "CancelUnbind" /\ ~Bound(at[c])

\* And the other way round.
WitnessClaimTooLate ==
    ~\E f \in Flushers : pc[f] = "Claim" /\ at[f] \in withdrawn

\* An add finds under the monitors that its entry has got into another list.
WitnessAddLoses == ~\E t \in Threads : pc[t] = "AddTest" /\ list[at[t]] # None
=============================================================================
