--------------------------- MODULE MCOverflowWheel ---------------------------
(* OverflowWheel with a few adders. *)
EXTENDS OverflowWheel

\* Two adders have found no wheel: the second one finds it under the monitor.
WitnessSecondReadMatters == ~\E a \in Adders : pc[a] = "ReadAgain" /\ overflow # None

\* The wheel is found without the monitor.
WitnessFoundAtOnce == ~\E a \in Adders : pc[a] = "Read" /\ overflow # None
=============================================================================
