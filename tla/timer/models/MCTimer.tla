------------------------------ MODULE MCTimer ------------------------------
(* Timer within bounds: a horizon before which every add is due, and a number of adds a task.     *)
EXTENDS Timer

CONSTANTS
    Horizon,    \* the clock's last value; no deadline lies beyond it
    MaxAdds     \* how often a task may be added

\* A cfg cannot name a negative number.
Delays_smoke == {-1, 0, 1, 3}
Delays_small == {-1, 0, 2, 5}

MCAdd(t, d) == now + d <= Horizon /\ adds[t] < MaxAdds /\ Add(t, d)

MCTick == now < Horizon /\ Tick

MCNext ==
    \/ \E t \in Tasks, d \in Delays : MCAdd(t, d)
    \/ \E t \in Tasks : Fire(t)
    \/ \E t \in Tasks : Cancel(t)
    \/ \E t \in Tasks : CancelInVain(t)
    \/ MCTick

MCSpec == Init /\ [][MCNext]_vars /\ WF_vars(MCTick) /\ \A t \in Tasks : WF_vars(Fire(t))

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims above would say nothing *)

\* A task is submitted before the time that its caller asked for: its deadline was rounded down.
WitnessRoundedDown == ~\E t \in Tasks : Waiting(t) /\ due[t] <= now /\ now % TickMs # 0

WitnessReplaced == ~\E t \in Tasks : Waiting(t) /\ outcomes[t] = adds[t] - 1 /\ outcomes[t] > 0

WitnessLate == ~\E t \in Tasks : Waiting(t) /\ due[t] + TickMs <= now

WitnessDueAtOnce == ~\E t \in Tasks : Waiting(t) /\ due[t] = now
=============================================================================
