---------------------------- MODULE OverflowWheel ----------------------------
(***************************************************************************)
(* How several adders get the one overflow wheel of a wheel, which is made *)
(* when the first of them needs it.                                        *)
(*                                                                         *)
(* Source.       standard 1.3 (double-checked creation), KAFKA-2112.       *)
(* Kafka.        TimingWheel.addOverflowWheel.                             *)
(* Abstraction.  A wheel is made or not, and has its fields or not; what   *)
(*               it is used for is left out.                               *)
(* Atomicity.    One step for each read and write of the volatile          *)
(*               reference, and each acquisition and release of the        *)
(*               monitor.  Making a wheel is a step of its own, though no  *)
(*               other thread can see it before it is published: mistakes  *)
(*               exchange the two.                                         *)
(* Fairness.     Weak, for each adder: each needs the monitor once.        *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    Adders,     \* threads that need the overflow wheel
    None        \* nobody, nothing

VARIABLES
    overflow,   \* the reference: the wheel that is published
    made,       \* the wheels that exist; each has its maker's name
    complete,   \* the wheels whose fields are all set
    monitor,    \* the adder that holds the wheel's monitor
    found,      \* adder -> the wheel that it has read or made
    pc          \* adder -> its next step

vars == <<overflow, made, complete, monitor, found, pc>>

Go(a, label) == pc' = [pc EXCEPT ![a] = label]

Init ==
    /\ overflow = None
    /\ made = {}
    /\ complete = {}
    /\ monitor = None
    /\ found = [a \in Adders |-> None]
    /\ pc = [a \in Adders |-> "Read"]

Read(a) ==
    /\ pc[a] = "Read"
    /\ found' = [found EXCEPT ![a] = overflow]
    /\ Go(a, IF overflow = None THEN "Lock" ELSE "Use")
    /\ UNCHANGED <<overflow, made, complete, monitor>>

Lock(a) ==
    /\ pc[a] = "Lock"
    /\ monitor = None
    /\ monitor' = a
    /\ Go(a, "ReadAgain")
    /\ UNCHANGED <<overflow, made, complete, found>>

ReadAgain(a) ==
    /\ pc[a] = "ReadAgain"
    /\ found' = [found EXCEPT ![a] = overflow]
    /\ Go(a, IF overflow = None THEN "Make" ELSE "Unlock")
    /\ UNCHANGED <<overflow, made, complete, monitor>>

Make(a) ==
    /\ pc[a] = "Make"
    /\ made' = made \cup {a}
    /\ complete' = complete \cup {a}
    /\ found' = [found EXCEPT ![a] = a]
    /\ Go(a, "Publish")
    /\ UNCHANGED <<overflow, monitor>>

Publish(a) ==
    /\ pc[a] = "Publish"
    /\ overflow' = found[a]
    /\ Go(a, "Unlock")
    /\ UNCHANGED <<made, complete, monitor, found>>

Unlock(a) ==
    /\ pc[a] = "Unlock"
    /\ monitor' = None
    /\ Go(a, "Use")
    /\ UNCHANGED <<overflow, made, complete, found>>

Use(a) ==
    /\ pc[a] = "Use"
    /\ Go(a, "Done")
    /\ UNCHANGED <<overflow, made, complete, monitor, found>>

Adder(a) == Read(a) \/ Lock(a) \/ ReadAgain(a) \/ Make(a) \/ Publish(a) \/ Unlock(a) \/ Use(a)

Terminated ==
    /\ \A a \in Adders : pc[a] = "Done"
    /\ UNCHANGED vars

Next == (\E a \in Adders : Adder(a)) \/ Terminated

Fairness == \A a \in Adders : WF_vars(Adder(a))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Invariants *)

TypeOK ==
    /\ overflow \in Adders \cup {None}
    /\ made \subseteq Adders
    /\ complete \subseteq made
    /\ monitor \in Adders \cup {None}
    /\ found \in [Adders -> Adders \cup {None}]
    /\ pc \in [Adders ->
        {"Read", "Lock", "ReadAgain", "Make", "Publish", "Unlock", "Use", "Done"}]

\* Whoever sees the wheel sees all its fields.
SafePublication == \A a \in Adders : pc[a] = "Use" => found[a] \in complete

\* A task in a wheel that nobody else sees would never be found.
OneOverflowWheel == Cardinality(made) <= 1

MutualExclusion ==
    Cardinality({a \in Adders : pc[a] \in {"ReadAgain", "Make", "Publish", "Unlock"}}) <= 1

(* Liveness *)

AddsEnd == \A a \in Adders : <>(pc[a] = "Done")

\* Nobody leaves without a place for its task.
EachUsesTheWheel == \A a \in Adders : <>(pc[a] = "Use")
=============================================================================
