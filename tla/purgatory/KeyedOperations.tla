-------------------------- MODULE KeyedOperations --------------------------
(***************************************************************************)
(* What a purgatory promises about many operations and many keys: who      *)
(* triggers a key tries everything that was watched under it when the call *)
(* began; and who hands an operation in tries it once more after the last  *)
(* watch, so that nothing is missed between.                               *)
(*                                                                         *)
(* Source.       standard 2.1, 2.2, 2.4 - 2.6, 2.8, 2.9.                   *)
(* Kafka.        DelayedOperationPurgatory: tryCompleteElseWatch (Submit   *)
(*               to Settle), checkAndComplete (Call to Return),            *)
(*               cancelForKey (Take).                                      *)
(* Abstraction.  No locks, no lists, no order, no timer.  Predicates come  *)
(*               true and may come false again, as the world likes.        *)
(* Atomicity.    One step for each watch under some of the keys, each try, *)
(*               each call and return of a trigger, each cancel_for_key    *)
(*               and each end of an operation that it has taken.           *)
(* Fairness.     Weak, for who has begun: who hands an operation in, who   *)
(*               triggers, who cancels, and for the callbacks.             *)
(*                                                                         *)
(* With callers who trigger what they make true, it refines                *)
(* DelayedOperation, with liveness.  Purgatory refines this module, and    *)
(* the produce purgatory of ProduceFetch is an instance of it.             *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
    Operations,     \* the delayed operations
    Keys,           \* what they are watched under
    KeysOf,         \* operation -> its keys
    Triggers,       \* threads that call check_and_complete, again and again
    Raising,        \* the operations whose predicate may raise instead of an answer
    None            \* no key

VARIABLES
    outcome,        \* operation -> as in DelayedOperation
    holds,          \* the operations whose predicate holds
    answers,        \* operation -> how often on_complete has run
    expirations,    \* operation -> how often on_expiration has run
    watched,        \* operation -> the keys under which a trigger finds it
    settled,        \* the pending operations that wait, after their last try
    doomed,         \* the pending operations that a cancel_for_key has taken
    key,            \* trigger -> the key that it checks, or None
    todo            \* trigger -> the operations that it has yet to try

Plain == INSTANCE DelayedOperation

plain == <<outcome, holds, answers, expirations>>
keyed == <<watched, settled, doomed, key, todo>>
vars == <<plain, keyed>>

Pending(op) == outcome[op] = "pending"

\* What may hold.
Worlds == SUBSET Operations

Init ==
    /\ outcome = [op \in Operations |-> "idle"]
    /\ holds \in Worlds
    /\ answers = [op \in Operations |-> 0]
    /\ expirations = [op \in Operations |-> 0]
    /\ watched = [op \in Operations |-> {}]
    /\ settled = {}
    /\ doomed = {}
    /\ key = [t \in Triggers |-> None]
    /\ todo = [t \in Triggers |-> {}]

-----------------------------------------------------------------------------
(* How an operation ends: then nobody owes it a try *)

Forget(op) ==
    /\ watched' = [watched EXCEPT ![op] = {}]
    /\ settled' = settled \ {op}
    /\ doomed' = doomed \ {op}
    /\ todo' = [t \in Triggers |-> todo[t] \ {op}]
    /\ UNCHANGED key

\* A trigger that found it before a cancel took it may still complete it.
Finds(t, op) == key[t] \in KeysOf[op] /\ op \in todo[t] \cup doomed

\* Whoever tries it: the thread that hands it in, until it waits, or a trigger that has found it.
Complete(op) ==
    /\ op \in settled => \E t \in Triggers : Finds(t, op)
    /\ Plain!Complete(op)
    /\ Forget(op)

Expire(op) == op \in settled /\ Plain!Expire(op) /\ Forget(op)

\* Who raises while it is handed in is given up.
Cancel(op) == op \in doomed \cup Raising /\ Plain!Cancel(op) /\ Forget(op)

Answer(op) == Plain!Answer(op) /\ UNCHANGED keyed

Notify(op) == Plain!Notify(op) /\ UNCHANGED keyed

-----------------------------------------------------------------------------
(* try_complete_else_watch (2.4) *)

Submit(op) == Plain!Submit(op) /\ UNCHANGED keyed

\* A trigger that is under way may find it, or not.
Watch(op, keys) ==
    /\ Pending(op) /\ op \notin settled
    /\ keys # {} /\ keys \subseteq KeysOf[op] \ watched[op]
    /\ watched' = [watched EXCEPT ![op] = @ \cup keys]
    /\ \E found \in SUBSET {t \in Triggers : key[t] \in keys} :
        todo' = [t \in Triggers |-> IF t \in found THEN todo[t] \cup {op} ELSE todo[t]]
    /\ UNCHANGED <<plain, settled, doomed, key>>

Tried(op) == op \notin holds \/ op \in Raising

\* The last try, which finds that it does not hold: under all its keys it is watched by now.
Settle(op) ==
    /\ Pending(op) /\ op \notin settled
    /\ watched[op] = KeysOf[op] \/ op \in doomed
    /\ Tried(op)
    /\ settled' = settled \cup {op}
    /\ UNCHANGED <<plain, watched, doomed, key, todo>>

-----------------------------------------------------------------------------
(* check_and_complete (2.6) *)

Change(now) ==
    /\ holds' = now
    /\ UNCHANGED <<outcome, answers, expirations, keyed>>

\* Who calls may have changed the world in the same step.
Call(t, k, now) ==
    /\ key[t] = None
    /\ key' = [key EXCEPT ![t] = k]
    /\ todo' = [todo EXCEPT ![t] = {op \in Operations \ doomed : k \in watched[op]}]
    /\ holds' = now
    /\ UNCHANGED <<outcome, answers, expirations, watched, settled, doomed>>

\* A try that completes nothing.
Visit(t, op) ==
    /\ op \in todo[t]
    /\ Tried(op)
    /\ todo' = [todo EXCEPT ![t] = @ \ {op}]
    /\ UNCHANGED <<plain, watched, settled, doomed, key>>

Return(t) ==
    /\ key[t] # None
    /\ todo[t] = {}
    /\ key' = [key EXCEPT ![t] = None]
    /\ UNCHANGED <<plain, watched, settled, doomed, todo>>

-----------------------------------------------------------------------------
(* cancel_for_key (2.9) *)

Take(k) ==
    LET taken == {op \in Operations : k \in watched[op]} IN
    /\ taken # {}
    /\ watched' = [op \in Operations |-> watched[op] \ {k}]
    /\ doomed' = doomed \cup taken
    /\ todo' = [t \in Triggers |-> todo[t] \ taken]
    /\ UNCHANGED <<plain, settled, key>>

-----------------------------------------------------------------------------

Next ==
    \/ \E op \in Operations :
        \/ Submit(op) \/ Complete(op) \/ Expire(op) \/ Cancel(op) \/ Answer(op) \/ Notify(op)
        \/ Settle(op)
    \/ \E op \in Operations, keys \in SUBSET Keys : Watch(op, keys)
    \/ \E now \in Worlds : Change(now)
    \/ \E t \in Triggers, k \in Keys, now \in Worlds : Call(t, k, now)
    \/ \E t \in Triggers, op \in Operations : Visit(t, op)
    \/ \E t \in Triggers : Return(t)
    \/ \E k \in Keys : Take(k)

HandIn(op) ==
    \/ Settle(op)
    \/ (op \notin settled /\ Complete(op))
    \/ \E keys \in SUBSET Keys : Watch(op, keys)

Check(t) ==
    \/ Return(t)
    \/ \E op \in todo[t] : Visit(t, op) \/ Complete(op)

Fairness ==
    /\ \A op \in Operations : WF_vars(HandIn(op)) /\ WF_vars(Answer(op)) /\ WF_vars(Notify(op))
    /\ \A op \in Operations : WF_vars(op \in doomed /\ Cancel(op))
    /\ \A t \in Triggers : WF_vars(Check(t))

Safe == Init /\ [][Next]_vars

Spec == Safe /\ Fairness

-----------------------------------------------------------------------------
(* Invariants *)

TypeOK ==
    /\ watched \in [Operations -> SUBSET Keys]
    /\ settled \subseteq Operations
    /\ doomed \subseteq Operations
    /\ key \in [Triggers -> Keys \cup {None}]
    /\ todo \in [Triggers -> SUBSET Operations]

OnlyThePendingIsWatched ==
    \A op \in Operations : Pending(op) \/
        /\ watched[op] = {}
        /\ op \notin settled \cup doomed
        /\ \A t \in Triggers : op \notin todo[t]

\* Else no trigger finds it (2.8).
WhatWaitsIsFoundUnderAllItsKeys ==
    \A op \in settled : op \in doomed \/ watched[op] = KeysOf[op]

TriggersTryWhatIsWatchedThere ==
    \A t \in Triggers : \A op \in todo[t] : key[t] \in watched[op]

(* Refinement, for callers who trigger what they make true *)

RefinesDelayedOperation == Plain!Spec

THEOREM Spec => []WhatWaitsIsFoundUnderAllItsKeys
=============================================================================
