---------------------------- MODULE MCDelayQueue ----------------------------
(* DelayQueue with one or two takers, two buckets, and an end of time. *)
EXTENDS DelayQueue

CONSTANT MaxTime    \* nothing happens later

MCLater(time) == IF time < MaxTime THEN {time + 1} ELSE {}

\* The second bucket is due before the first.
MCKeyOf == [o \in Offerers |-> IF o = "o1" THEN 2 ELSE 1]

\* One taker is in a hurry; the other waits longer than time lasts.
MCLimit == [t \in Takers |-> IF t = "t1" THEN 9 ELSE 1]

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

\* A bucket that is due earlier comes while somebody sleeps for the head.
WitnessNewHead ==
    ~\E t \in asleep, o \in Offerers : pc[o] = "Notify" /\ wakeAt[t] > KeyOf[o]

WitnessOutOfTime == ~\E t \in Takers : pc[t] = "UnlockInVain" /\ ~closed

\* Another taker has been faster.
WitnessPollInVain == ~\E t \in Takers : pc[t] = "Poll" /\ ~HeadIsDue

WitnessClosedUnderWaiter == ~\E c \in Closers : pc[c] = "Notify" /\ asleep # {}

WitnessBothAsleepAtTheClose == ~\E c \in Closers : pc[c] = "Notify" /\ asleep = {"t1", "t2"}
=============================================================================
