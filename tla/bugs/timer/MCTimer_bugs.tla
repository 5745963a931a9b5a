---------------------------- MODULE MCTimer_bugs -----------------------------
(***************************************************************************)
(* Mistakes in what a timer is.  Each definition here replaces one of      *)
(* Timer and breaks a property (the manifest says which), so no property   *)
(* of Timer is idle.                                                       *)
(***************************************************************************)
EXTENDS MCTimer

\* Submits whatever waits.
Fire_before_it_is_due(t) == Waiting(t) /\ End(t, "submitted")

\* Takes no notice of a cancel.
Fire_after_cancel(t) ==
    /\ state[t] \in {"waiting", "cancelled"}
    /\ due[t] <= now
    /\ End(t, "submitted")

\* Submits again and again.
Fire_without_end(t) ==
    /\ state[t] \in {"waiting", "submitted"}
    /\ due[t] <= now
    /\ End(t, "submitted")

\* Forgets that the task waits, and remembers when.
End_but_due(t, outcome) ==
    /\ state' = [state EXCEPT ![t] = outcome]
    /\ outcomes' = [outcomes EXCEPT ![t] = @ + 1]
    /\ UNCHANGED <<now, due, adds>>

End_as_a_stranger(t, outcome) ==
    /\ due' = [due EXCEPT ![t] = 0]
    /\ state' = [state EXCEPT ![t] = "ended"]
    /\ outcomes' = [outcomes EXCEPT ![t] = @ + 1]
    /\ UNCHANGED <<now, adds>>

RoundDown_not(time) == time

\* A clock that is set back.
Tick_and_back ==
    /\ now' = IF now = 2 THEN 1 ELSE now + 1
    /\ UNCHANGED <<due, state, adds, outcomes>>

\* Only a task that is late is submitted; the one that is due last waits for ever.
Fire_when_late(t) ==
    /\ Waiting(t)
    /\ due[t] + TickMs < now
    /\ End(t, "submitted")
=============================================================================
