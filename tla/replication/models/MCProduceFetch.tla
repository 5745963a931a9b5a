--------------------------- MODULE MCProduceFetch ---------------------------
(* ProduceFetch with a few of each: it is finite as it is. *)
EXTENDS ProduceFetch

\* Consumers want everything that is produced.
MCMinBytes == [c \in Consumers |-> Cardinality(Producers) * Cardinality(Partitions)]

\* Everybody asks for every partition, in the same order.
MCAsks ==
    [r \in Producers \cup Followers \cup Consumers |->
        IF "q2" \in Partitions THEN <<"q1", "q2">> ELSE <<"q1">>]

\* The scene of finding 18: a producer stops before its first attempt, there is an election, the
\* second producer appends; then everybody goes on.
MovesAlone(t) == \A u \in Threads \ {t} : pc'[u] = pc[u]

FirstTheElection ==
    CASE pc["p1"] \in {"Append", "ReadEnds", "Raise", "Answer"} -> MovesAlone("p1")
      [] pc["p1"] = "FirstTry" /\ (epoch["q1"] < 2 \/ pc["k"] = "Trigger") -> MovesAlone("k")
      [] pc["p1"] = "FirstTry" /\ required["p2"]["q1"] = 0 -> MovesAlone("p2")
      [] OTHER -> TRUE

\* The scene of rule 5.4.4: a record is replicated to f2 alone, there is an election, and f1 comes back.
ThenTheRejoin ==
    CASE pc["p1"] # "Wait" /\ epoch["q1"] = 0 -> MovesAlone("p1")
      [] copy["f2"]["q1"] = <<>> -> MovesAlone("f2")
      [] epoch["q1"] < 2 \/ pc["k"] = "Trigger" -> MovesAlone("k")
      [] OTHER -> TRUE

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

\* A watched produce is completed by the fetch of a follower.
WitnessFollowerCompletesProduce ==
    ~\E f \in Followers, p \in produces : pc[f] = "Trigger" /\ Open(p) /\ Satisfied(p)

\* The event comes between the first attempt and the watch.
WitnessLastAttempt == ~\E r \in Requests : pc[r] = "LastTry" /\ Open(r) /\ Satisfied(r)

\* A replica that has stopped is left out, and that moves the high watermark.
WitnessShrinkCompletesProduce ==
    ~\E d \in Watchdogs, p \in produces : pc[d] = "Trigger" /\ Open(p) /\ Satisfied(p)

WitnessTimedOut == ~\E p \in Producers : answer[p] = "timed_out"

\* Two threads hold the shared side at once.
WitnessTogetherInside == \A q \in Partitions : Cardinality(inside[q]) < 2

\* What a thread has read of the ends is no longer the least when it raises the high watermark.
WitnessRaisedByAnother ==
    ~\E t \in Requests : pc[t] = "Raise" /\ hw[Head(todo[t])] > least[t]

WitnessRejoins ==
    ~\E f \in Followers, q \in Partitions :
        pc[f] = "Expand" /\ Head(todo[f]) = q /\ MayRejoin(f, q, ends[q][f])

\* A record is cut off, and another one stands at its offset (finding 18).
WitnessAnotherRecord ==
    ~\E p \in Producers, q \in Partitions :
        /\ Open(p) /\ leads[q] /\ required[p][q] \in 1..End(q)
        /\ log[q][required[p][q]][2] # p

\* A follower that is out of sync is at the high watermark, and not yet where the epoch began.
WitnessBehindTheEpoch ==
    ~\E f \in Followers, q \in Partitions :
        /\ pc[f] = "NoteEnd" /\ leads[q] /\ f \notin isr[q] /\ sent[f][q] = epoch[q]
        /\ Len(copy[f][q]) \in hw[q]..(start[q] - 1)

WitnessRefused == ~\E p \in Producers, q \in Partitions : status[p][q] = "refused"

\* One partition is replicated, the other one not yet.
WitnessHalfReplicated ==
    ~\E p \in Producers, q, r \in Partitions : status[p][q] = "ok" /\ status[p][r] = "pending"
=============================================================================
