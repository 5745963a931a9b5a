--------------------- MODULE MCTimingWheel_Expectations ---------------------
(***************************************************************************)
(* Findings: what one might expect of a timer, and a timing wheel with a   *)
(* lagging clock, rounding and cascades does not promise (1.7 - 1.9).      *)
(* The wheel is the correct one; only its entries get numbers that tell    *)
(* which of two was added first (NumberOfNext).                            *)
(***************************************************************************)
EXTENDS MCTimingWheel

IsAdded(t) == adds'[t] # adds[t]

\* Of two tasks the one with the earlier deadline runs first.  No: not within a tick.
DeadlinesAreNeverOvertaken ==
    [][\A t, u \in Tasks : Submits(t) /\ Waiting(u) => deadline[t] <= deadline[u]]_vars

\* No task runs before its deadline.  No: deadlines are rounded down to the tick.
NeverEarly == [][\A t \in Tasks : Submits(t) => now >= deadline[t]]_vars

\* What is due when it is added is submitted by the add.  No: the wheel's clock lags behind.
DueAtOnceIsSubmittedByAdd ==
    [][\A t \in Tasks : IsAdded(t) /\ deadline'[t] <= now => rejected' # <<>>]_vars
=============================================================================
