---------------------------- MODULE MCPurgatory ----------------------------
(* Purgatory with one or two operations, one or two keys, and who does what to them. *)
EXTENDS PurgatoryProof

\* op1 waits for every key there is, op2 for the first alone.
MCKeysOf ==
    [op \in Operations |->
        IF op = "op1" /\ "k2" \in Keys THEN <<"k1", "k2">> ELSE <<"k1">>]

MCOperationOf == [w \in Watchers |-> IF w = "w1" THEN "op1" ELSE "op2"]

\* The second trigger is for the second operation if there is one.
MCMakes == [c \in Triggers |-> IF c = "c2" /\ "op2" \in Operations THEN "op2" ELSE "op1"]

\* The lists as a map has them that keeps the order in which they came: op1 comes under k1 first.
MCAsTheyCame(some) ==
    SelectSeq(<<<<"k1", 1>>, <<"k1", 2>>, <<"k2", 1>>, <<"k2", 2>>>>, LAMBDA l : l \in some)

\* If op1 has another key, the second trigger looks there.
MCKeyOf ==
    [t \in Triggers \cup Cancellers |->
        IF t = "c2" /\ "k2" \in Keys /\ "op2" \notin Operations THEN "k2" ELSE "k1"]

\* The second watcher calls when the first one's call has returned.
MCComesBefore(w, x) == w = "w1" /\ x = "w2"

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

\* The event comes between the first attempt and the watch; the last attempt notices it.
WitnessLastAttemptCompletes ==
    ~\E w \in Watchers : mine[w] /\ pc[w] = "OnComplete" /\ next[w] > 1

\* The operation is completed between the test and the timer's add.
WitnessTailCancels == ~\E w \in Watchers : pc[w] = "TailCancel"

\* A key is removed, and an operation is watched under it again.
WitnessKeyMadeAgain == ~\E k \in Keys : made[k] > 1

\* An operation is watched in a list that was empty and about to be removed.
WitnessRemovalComesTooLate ==
    ~\E c \in Triggers : pc[c] = "RemoveKeyIfEmpty" /\ content[list[c]] # <<>>

\* Somebody else's operation is completed through the list.
WitnessTwoTriggersCompleteOne ==
    ~\E c, d \in Triggers : c # d /\ mine[c] /\ pc[d] = "IsDoneUnderLock" /\ at[c] = at[d]

WitnessExpires == ~\E op \in Operations : expirations[op] > 0

\* A cancel comes while the operation is being watched.
WitnessCancelledWhileWatched ==
    ~\E w \in Watchers : state[OperationOf[w]] = "cancelled" /\ pc[w] = "WatchIsDone"

WitnessPurged == ~\E p \in Purgers : pc[p] = "PurgeRemove" /\ doomed[p] # <<>>

\* Rule 6.4.2: the last test raises, or the timer, while a trigger may find the operation.
WitnessRaisesWhileWatched == ~\E w \in Watchers : pc[w] = "UnlockAndRaise" /\ next[w] > 1
WitnessRefusedByTheTimer ==
    ~\E w \in Watchers : pc[w] = "GiveUp" /\ lock[at[w]] = None /\ ~Done(at[w])

\* Rule 6.4.4: a callback raises, and its operation is completed.
WitnessCallbackRaises == ~\E t \in Threads : pc[t] = "UnlockAndRaise" /\ Done(at[t])

\* Rule 6.4.3: an operation raises, and another one comes behind it.
WitnessRaisesBeforeAnother ==
    ~\E c \in Triggers : pc[c] = "UnlockAndRaise" /\ Len(todo[c]) > 1

=============================================================================
