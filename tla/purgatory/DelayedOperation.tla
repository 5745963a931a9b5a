-------------------------- MODULE DelayedOperation --------------------------
(***************************************************************************)
(* What a delayed operation is: it waits until its predicate holds, or     *)
(* until its time is out, and is answered once; or it is cancelled, and    *)
(* never answered.                                                         *)
(*                                                                         *)
(* Source.       standard 2.1, 2.2, 2.4, 2.5, 2.9.                         *)
(* Kafka.        org.apache.kafka.server.purgatory.DelayedOperation:       *)
(*               forceComplete, onComplete, onExpiration, isCompleted.     *)
(* Abstraction.  No locks, no watch lists, no timer: an operation may      *)
(*               expire at any moment, and need not.  That its predicate   *)
(*               holds stands for the event and the trigger that follows.  *)
(*               A predicate that holds goes on to hold (2.13).            *)
(* Atomicity.    To decide how the operation ends (the compare-and-set of  *)
(*               its state), to answer (on_complete) and to tell of the    *)
(*               expiry (on_expiration) are one step each.                 *)
(* Fairness.     Weak, for what is owed: to complete what holds, and to    *)
(*               answer what has ended.  Nobody is obliged to cancel.      *)
(*                                                                         *)
(* MaybeTryComplete and Purgatory refine this module.                      *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
    Operations      \* the delayed operations

VARIABLES
    outcome,        \* operation -> one of Outcomes
    holds,          \* the operations whose predicate holds
    answers,        \* operation -> how often on_complete has run
    expirations     \* operation -> how often on_expiration has run

vars == <<outcome, holds, answers, expirations>>

Outcomes == {"idle", "pending", "completed", "expired", "cancelled"}

\* Somebody has to be answered.
Completed(op) == outcome[op] \in {"completed", "expired"}

Ended(op) == Completed(op) \/ outcome[op] = "cancelled"

-----------------------------------------------------------------------------

\* An operation may be there from the beginning.
Init ==
    /\ outcome \in [Operations -> {"idle", "pending"}]
    /\ holds = {}
    /\ answers = [op \in Operations |-> 0]
    /\ expirations = [op \in Operations |-> 0]

\* try_complete_else_watch begins.
Submit(op) ==
    /\ outcome[op] = "idle"
    /\ outcome' = [outcome EXCEPT ![op] = "pending"]
    /\ UNCHANGED <<holds, answers, expirations>>

MakeTrue(op) ==
    /\ op \notin holds
    /\ holds' = holds \cup {op}
    /\ UNCHANGED <<outcome, answers, expirations>>

End(op, how) ==
    /\ outcome[op] = "pending"
    /\ outcome' = [outcome EXCEPT ![op] = how]
    /\ UNCHANGED <<holds, answers, expirations>>

Complete(op) == op \in holds /\ End(op, "completed")

Expire(op) == End(op, "expired")

\* force_cancel, for cancel_for_key.
Cancel(op) == End(op, "cancelled")

Answer(op) ==
    /\ Completed(op)
    /\ answers[op] = 0
    /\ answers' = [answers EXCEPT ![op] = 1]
    /\ UNCHANGED <<outcome, holds, expirations>>

\* After the answer (2.2).
Notify(op) ==
    /\ outcome[op] = "expired"
    /\ answers[op] = 1
    /\ expirations[op] = 0
    /\ expirations' = [expirations EXCEPT ![op] = 1]
    /\ UNCHANGED <<outcome, holds, answers>>

\* Whether anybody comes is left open.
Terminated == UNCHANGED vars

Next ==
    \/ \E op \in Operations :
        \/ Submit(op) \/ MakeTrue(op) \/ Complete(op) \/ Expire(op) \/ Cancel(op)
        \/ Answer(op) \/ Notify(op)
    \/ Terminated

Fairness ==
    \A op \in Operations : WF_vars(Complete(op)) /\ WF_vars(Answer(op)) /\ WF_vars(Notify(op))

Safe == Init /\ [][Next]_vars

Spec == Safe /\ Fairness

-----------------------------------------------------------------------------
(* Invariants *)

TypeOK ==
    /\ outcome \in [Operations -> Outcomes]
    /\ holds \subseteq Operations
    /\ answers \in [Operations -> Nat]
    /\ expirations \in [Operations -> Nat]

AnsweredOnceIfCompleted ==
    \A op \in Operations : answers[op] > 0 => answers[op] = 1 /\ Completed(op)

\* on_expiration at most once, only for what expired, and after on_complete (2.2).
ToldOfTheExpiryAfterTheAnswer ==
    \A op \in Operations :
        expirations[op] > 0 =>
            outcome[op] = "expired" /\ answers[op] = 1 /\ expirations[op] = 1

CompletedOnlyIfItHolds == \A op \in Operations : outcome[op] = "completed" => op \in holds

(* Action property *)

OutcomeIsFinal == [][\A op \in Operations : Ended(op) => outcome'[op] = outcome[op]]_vars

(* Liveness *)

\* Without waiting for the time-out.
WhatHoldsEnds == \A op \in Operations : outcome[op] = "pending" /\ op \in holds ~> Ended(op)

CompletedIsAnswered == \A op \in Operations : Completed(op) ~> answers[op] > 0

ExpiriesAreTold == \A op \in Operations : outcome[op] = "expired" ~> expirations[op] > 0
=============================================================================
