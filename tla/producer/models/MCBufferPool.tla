---------------------------- MODULE MCBufferPool ----------------------------
(* BufferPool with a few threads, a handful of bytes and an end of time. *)
EXTENDS BufferPoolProof

CONSTANT MaxTime    \* nothing happens later

ASSUME MaxTime \in Nat

MCLater(time) == IF time < MaxTime THEN {time + 1} ELSE {}

\* Never, in a model whose time ends before.
Forever == 1000

MCLimit == [t \in Clients |-> CASE t = "p" -> 0 [] t = "l" -> 1 [] OTHER -> Forever]

MCVictim == [i \in Interrupters |-> IF i = "i1" THEN "a" ELSE "l"]

\* Who asks for how much; "p" waits for no time, "l" for a limited one, all others for ever.
P_one_byte == [t \in Clients |-> <<1>>]
P_all == [t \in Clients |-> <<Total>>]
P_mixed == [t \in Clients |-> CASE t = "a" -> <<1>> [] t = "b" -> <<2>> [] OTHER -> <<3>>]
P_two_each == [t \in Clients |-> IF t = "a" THEN <<1, 2>> ELSE <<2, 1>>]
P_held_in_parts ==
    [t \in Clients |-> CASE t = "a" -> <<2>> [] t = "b" -> <<1, 2>> [] OTHER -> <<1>>]
P_large_and_small == [t \in Clients |-> IF t = "a" THEN <<2>> ELSE <<1>>]

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

WitnessTwoWait == Len(waiters) < 2

\* There is memory for the newcomer, but somebody waits.
WitnessQueuesThoughThereIsEnough ==
    ~\E t \in Clients : pc[t] = "Lock" /\ waiters # <<>> /\ HasEnough(Size(t)) /\ ~closed

WitnessAccumulates == \A t \in Clients : accumulated[t] = 0

\* A buffer is used again, a buffer is broken up.
WitnessReused == ~\E t \in Clients : pc[t] = "Lock" /\ lock = None /\ free > 0 /\ Size(t) = Poolable
WitnessBrokenUp ==
    ~\E t \in Clients : pc[t] = "Lock" /\ lock = None /\ BuffersToDrop(Size(t)) > 0

\* Out of time with part of the memory (KAFKA-4840).
WitnessLateWithPart ==
    ~\E t \in Clients : pc[t] = "EndWait" /\ now >= deadline[t] /\ accumulated[t] > 0

\* The signal reaches a client whose time is over; it hands it on (3.4).
WitnessLateAndSignalled ==
    ~\E t \in Clients : pc[t] = "Asleep" /\ t \notin asleep /\ now >= deadline[t]

\* The signal comes first, the interruption after it (3.5).
WitnessInterruptedAfterTheSignal ==
    ~\E t \in Clients : pc[t] = "Asleep" /\ t \notin asleep /\ t \in interrupted

WitnessInterruptedWithPart ==
    ~\E t \in Clients : t \in thrown /\ accumulated[t] > 0

WitnessRefundWithWaiter == ~\E t \in Clients : pc[t] = "Refund" /\ waiters # <<>>

\* Two reservations come to nothing at once.
WitnessTwoFail ==
    ~\E t, u \in Clients : t # u /\ pc[t] = "Refund" /\ pc[u] = "Refund"

WitnessClosedUnderTwo == ~(closed /\ Len(waiters) = 2)

\* A signal finds nobody, since its client is awake.
WitnessSignalInVain ==
    ~\E t \in Clients : pc[t] = "Signal" /\ Head(waiters) \notin asleep

\* Somebody wakes up for no reason who is not first.
WitnessOutOfTurn == ~\E t \in Clients : pc[t] = "EndWait" /\ ~IsNext(t) /\ HasEnough(Size(t))
=============================================================================
