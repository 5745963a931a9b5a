--------------------------- MODULE MCSystemTimer ---------------------------
(* SystemTimer with a few threads and tasks, a small wheel, and an end of time. *)
EXTENDS SystemTimerProof

CONSTANT MaxTime    \* nothing happens later, but that waiting tasks become due

\* Time goes on as long as somebody waits for it, but not for those who never stop adding.
MCLater(time) ==
    IF \/ time < MaxTime
       \/ Restless = {} /\ \E k \in Tasks : Waiting(k) /\ deadline[k] > time
    THEN {time + 1}
    ELSE {}

MCReach == -4..6

\* Time stands still while an add has read the clock and has not bound its task.
MCStandsStill(time) == IF \E a \in Adders : pc[a] = "Bind" THEN {} ELSE MCLater(time)

\* With two buckets a level and no lag, k1 and k2 lie on level 0, k3 and k4 on level 1, k5 on level 2.
MCDelay ==
    [k \in Tasks |->
        CASE k = "k0" -> 0 [] k = "k1" -> 1 [] k = "k2" -> 1 [] k = "k3" -> 3 [] k = "k4" -> 2
          [] k = "k5" -> 4]

MCVictim == [c \in Cancellers |-> IF c = "c1" THEN "k1" ELSE "k3"]

\* Who adds what.
P_one == [a \in Adders |-> <<"k1", "k3">>]
P_due_at_once == [a \in Adders |-> <<"k0">>]
P_same_bucket == [a \in Adders |-> IF a = "a1" THEN <<"k1">> ELSE <<"k2">>]
P_two_levels == [a \in Adders |-> IF a = "a1" THEN <<"k1">> ELSE <<"k3">>]
P_three_levels == [a \in Adders |-> <<"k5", "k3", "k0">>]
P_three_tasks == [a \in Adders |-> IF a = "a1" THEN <<"k1", "k2">> ELSE <<"k3">>]
P_due_and_later == [a \in Adders |-> <<"k0", "k1">>]
P_same_key == [a \in Adders |-> <<"k1", "k4", "k2">>]
P_later == [a \in Adders |-> <<"k1", "k2", "k3">>]
P_twice == [a \in Adders |-> <<"k3", "k3">>]
P_again == [a \in Adders |-> <<"k3", "k1", "k3">>]

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

\* Two adders at once.
WitnessAddersTogether == Cardinality(readers) < 2

\* Rule 1.7: the wheel's clock lags, so that a task that is due goes into a bucket.
WitnessDueTaskInABucket ==
    ~\E b \in AllBuckets : \E k \in Range(Content(b)) : Delay[k] = 0

\* Rule 1.7: a task that is due at once is submitted by its adder.
WitnessSubmittedAtOnce == ~\E a \in Adders : pc[a] = "Submit" /\ Waiting(hand[a])

\* Rule 1.6: an entry comes down to a lower level.
WitnessCascade == ~\E v \in Advancers : pc[v] = "SetExpiration"

\* Rule 1.3: the second entry of a round finds the bucket's expiration set.
WitnessNotOfferedTwice ==
    ~\E t \in Workers : pc[t] = "SetExpiration" /\ Key(into[t]) # Idle

\* A task is cancelled between binding and linking, or while its bucket is flushed.
WitnessCancelledInHand == ~\E t \in Workers : pc[t] = "Insert" /\ ~Waiting(hand[t])

\* Rule 1.11: cancelled between the choice of its bucket and the linking.
WitnessLeftover == \A b \in AllBuckets : \A k \in Range(Content(b)) : Waiting(k)

\* Rule 1.10: a cancel that comes too late, though it found the task waiting.
WitnessCancelOvertaken == ~\E c \in Cancellers : pc[c] = "CancelUnbind" /\ ~Waiting(Victim[c])

\* Rule 1.5: a bucket is taken though all its entries were cancelled.
WitnessEmptyBucketTaken == ~\E v \in Advancers : pc[v] = "AdvanceClock" /\ Content(polled[v]) = <<>>

\* An advance that owes something.
WitnessOwed == \A v \in Advancers : owed[v] = {}

\* A writer waits, so a reader has to.
WitnessReaderBehindWriter == ~(WritersQueue /\ \E a \in Adders : pc[a] = "LockRead")

\* A writer waits only for a reader that has been admitted and has not entered yet.
WitnessWriterBehindAdmitted == ~(writer = None /\ readers = {} /\ admitted # {} /\ WritersQueue)

WitnessThreeLevels == Len(wheel) < 3

\* Rule 1.3: an overflow wheel is needed when the wheel's clock has passed a tick of it.
WitnessWheelMadeLater == ~(Len(wheel) = 1 /\ wheel[1].clock >= TickOf(1)
    /\ \E a \in Adders : pc[a] = "Insert" /\ Climb(wheel, deadline[hand[a]], 0).level = 1)

\* Rule 1.12: a task is added again while it waits in a bucket.
WitnessReplaced ==
    ~\E a \in Adders : pc[a] = "Bind" /\ \E b \in AllBuckets :
        Program[a][step[a]] \in Range(Content(b))

\* Rule 1.16: what waits when the timer is closed never runs.
WitnessLeftBehind == ~(executor = "shut" /\ \E k \in Tasks : Waiting(k))

\* Rule 6.2.4: another task is due behind the one that was refused.
WitnessRefusedBeforeAnother ==
    ~\E b \in AllBuckets : Len(Content(b)) > 1 /\ state[Head(Content(b))] = "refused"

\* A cancel comes too late for a task that is refused; a task is cancelled that was refused.
WitnessCancelOfAClaimedTask ==
    ~\E c \in Cancellers : pc[c] = "CancelRemove" /\ state[Victim[c]] = "claimed"
WitnessRefusedIsCancelled ==
    ~\E c \in Cancellers : pc[c] = "CancelUnbind" /\ state[Victim[c]] = "refused"

\* Cancelled between test and link: a leftover.
WitnessLinkedBackTooLate == ~\E v \in Advancers : pc[v] = "LinkBack" /\ ~Waiting(hand[v])

\* Rule 6.2.4: another bucket has the key of the one whose task was refused.
WitnessRefusedAmongEquals ==
    ~\E i, j \in DOMAIN queue : i # j /\ queue[i].key = queue[j].key /\ IsBehindARefusal(i)

WitnessAddRaises == \A k \in Tasks : state[k] # "withdrawn"

-----------------------------------------------------------------------------

\* Of the tasks of one adder, where no advance moves the wheel's clock between their adds (1.6.2,
\* 1.13.2).
TasksOfOneDeadlineRunInTheOrderOfAdds ==
    [][\A a \in Adders : \A i, j \in DOMAIN Program[a] :
        LET first == Program[a][i]
            second == Program[a][j]
        IN  i < j /\ Waiting(second) /\ state'[second] = "submitted"
                /\ deadline[first] = deadline[second] => ~Waiting(first)]_vars

(* Claims about Kafka's design *)

\* Whoever misses a task that it owes misses it because of an adder that has not returned yet.
LateOnlyBehindAnAdder ==
    [][\A v \in Advancers :
        pc[v] # "Idle" /\ pc'[v] = "Idle" /\ owed'[v] # {} => readers # {}]_vars
=============================================================================
