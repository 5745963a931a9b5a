------------------------- MODULE MCKeyedOperations -------------------------
(* KeyedOperations with one operation or two. *)
EXTENDS KeyedOperations, FiniteSets

\* op1 waits for every key, op2 for the first alone.
MCKeysOf == [op \in Operations |-> IF op = "op1" THEN Keys ELSE {"k1"}]

\* Callers make an operation true, or nothing, and trigger one of its keys; nothing comes true
\* otherwise, or false.
OneWorld == {{}}

NoChange(now) == UNCHANGED vars

CallAfterMakingTrue(t, k, now) ==
    /\ key[t] = None
    /\ key' = [key EXCEPT ![t] = k]
    /\ todo' = [todo EXCEPT ![t] = {op \in Operations \ doomed : k \in watched[op]}]
    /\ \E more \in SUBSET {op \in Operations : k \in KeysOf[op]} : holds' = holds \cup more
    /\ Cardinality(holds') <= Cardinality(holds) + 1
    /\ UNCHANGED <<outcome, answers, expirations, watched, settled, doomed>>

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

\* It comes true between the first watch and the last try.
WitnessLastTry == ~\E op \in Operations : Pending(op) /\ op \in holds /\ watched[op] = KeysOf[op]

WitnessATriggerOwesTwo == ~\E t \in Triggers : todo[t] = Operations

WitnessTakenFromATrigger ==
    ~\E t \in Triggers, op \in doomed : key[t] \in KeysOf[op] /\ op \in holds
=============================================================================
