------------------------------- MODULE Timer -------------------------------
(***************************************************************************)
(* What a timer is: tasks wait until they are due, and then each is        *)
(* submitted once, unless it was cancelled or added again before.          *)
(*                                                                         *)
(* Source.       standard 1: 1.1, 1.2, 1.7, 1.8, 1.10, 1.12, 1.18.         *)
(* Kafka.        Timer: add, advanceClock; TimerTask: cancel.              *)
(* Abstraction.  No wheels, no queue, no threads.  A task may be submitted *)
(*               from the moment at which the clock shows its due time;    *)
(*               how much later, and in which order, is left open.         *)
(*               Submitting stands for handing over to the executor.       *)
(* Atomicity.    add, cancel and the submission of one task are one step   *)
(*               each.  A step of the clock is one millisecond.            *)
(*                                                                         *)
(* TimingWheel, EntryMigration and SystemTimer refine this module.  A      *)
(* refinement in which the clock is read before the add takes effect gives *)
(* a set of Delays that reaches below its own: what is read d before is a  *)
(* delay shorter by d.                                                     *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
    Tasks,      \* the tasks
    Delays,     \* the delays with which tasks are added, in milliseconds; may be negative
    TickMs      \* the resolution in milliseconds: due times are rounded down to it

ASSUME TickMs \in Nat \ {0}
ASSUME Delays \subseteq Int

VARIABLES
    now,        \* what the clock shows, in milliseconds
    due,        \* task -> when its last add is due, rounded down; 0 while it does not wait
    state,      \* task -> one of States
    adds,       \* task -> how often it has been added
    outcomes    \* task -> how many of its adds have ended: submitted, cancelled or replaced

vars == <<now, due, state, adds, outcomes>>

States == {"idle", "waiting", "submitted", "cancelled"}

Waiting(t) == state[t] = "waiting"

RoundDown(time) == (time \div TickMs) * TickMs

-----------------------------------------------------------------------------

Init ==
    /\ now = 0
    /\ due = [t \in Tasks |-> 0]
    /\ state = [t \in Tasks |-> "idle"]
    /\ adds = [t \in Tasks |-> 0]
    /\ outcomes = [t \in Tasks |-> 0]

\* A task that waits is due by its last add alone: this one replaces the older (1.12).
Add(t, d) ==
    /\ due' = [due EXCEPT ![t] = RoundDown(now + d)]
    /\ state' = [state EXCEPT ![t] = "waiting"]
    /\ adds' = [adds EXCEPT ![t] = @ + 1]
    /\ outcomes' = [outcomes EXCEPT ![t] = IF Waiting(t) THEN @ + 1 ELSE @]
    /\ UNCHANGED now

\* The add of t ends, as `outcome`.
End(t, outcome) ==
    /\ due' = [due EXCEPT ![t] = 0]
    /\ state' = [state EXCEPT ![t] = outcome]
    /\ outcomes' = [outcomes EXCEPT ![t] = @ + 1]
    /\ UNCHANGED <<now, adds>>

Fire(t) ==
    /\ Waiting(t)
    /\ due[t] <= now
    /\ End(t, "submitted")

\* cancel() that returns TRUE.
Cancel(t) ==
    /\ Waiting(t)
    /\ End(t, "cancelled")

\* cancel() that returns FALSE.  It changes nothing, yet is an action: so the state graph has an
\* edge for every call in every state, and an oracle can be compared with it edge by edge.
CancelInVain(t) ==
    /\ ~Waiting(t)
    /\ UNCHANGED vars

Tick ==
    /\ now' = now + 1
    /\ UNCHANGED <<due, state, adds, outcomes>>

Next ==
    \/ \E t \in Tasks, d \in Delays : Add(t, d)
    \/ \E t \in Tasks : Fire(t)
    \/ \E t \in Tasks : Cancel(t)
    \/ \E t \in Tasks : CancelInVain(t)
    \/ Tick

\* The clock goes on, and what stays due is submitted.
Fairness ==
    /\ WF_vars(Tick)
    /\ \A t \in Tasks : WF_vars(Fire(t))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Invariants *)

TypeOK ==
    /\ now \in Nat
    /\ due \in [Tasks -> Int]
    /\ state \in [Tasks -> States]
    /\ adds \in [Tasks -> Nat]
    /\ outcomes \in [Tasks -> Nat]

DueTimesAreMultiplesOfTheTick == \A t \in Tasks : due[t] % TickMs = 0

OnlyWaitingTasksAreDue == \A t \in Tasks : ~Waiting(t) => due[t] = 0

\* Each add ends in exactly one submission, cancellation or replacement (1.18).
AddsEqualOutcomes ==
    \A t \in Tasks : adds[t] = outcomes[t] + (IF Waiting(t) THEN 1 ELSE 0)

(* Action properties *)

FiresOnlyWhenDue ==
    [][\A t \in Tasks :
        state[t] # "submitted" /\ state'[t] = "submitted" => Waiting(t) /\ due[t] <= now]_vars

\* What has ended stays as it ended until it is added again: nothing runs after a cancel.
OnlyAddsStartAgain ==
    [][\A t \in Tasks :
        ~Waiting(t) /\ state'[t] # state[t] => state'[t] = "waiting" /\ adds'[t] = adds[t] + 1]_vars

ClockNeverGoesBack == [][now' >= now]_vars

(* Liveness.  A task that is added again for ever, each time before it is due, waits for ever;     *)
(* models bound the adds.                                                                          *)

EveryTaskIsSubmittedOrCancelled ==
    \A t \in Tasks : Waiting(t) ~> state[t] \in {"submitted", "cancelled"}
=============================================================================
