------------------------- MODULE MCDelayedOperation -------------------------
(* DelayedOperation with one or two operations: it is finite as it is. *)
EXTENDS DelayedOperation

\* Every operation is there from the beginning, as for the code that it is compared with.
PendingSpec ==
    Init /\ (\A op \in Operations : outcome[op] = "pending") /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

WitnessExpiredThoughItHolds == ~\E op \in holds : outcome[op] = "expired"

WitnessCompletedThoughNotAnswered == ~\E op \in Operations : Completed(op) /\ answers[op] = 0
=============================================================================
