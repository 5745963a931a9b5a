------------------------- MODULE MCRecordAccumulator -------------------------
(* RecordAccumulator with a few threads, records, batches and buffers. *)
EXTENDS RecordAccumulator

\* Who appends to which partition.
P_one == [a \in Appenders |-> <<0>>]
P_two == [a \in Appenders |-> <<0, 0>>]
P_apart == [a \in Appenders |-> IF a = "a1" THEN <<0, 0>> ELSE <<1>>]
P_spread == [a \in Appenders |-> <<0, 1, 0>>]
P_long == [a \in Appenders |-> <<0, 0, 0>>]

\* Records in order: a partition is left alone while one of its batches is in the air.
MutedInTheAir(p) == \E b \in inAir : batch[b].partition = p

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

\* Another appender has made a batch while this one allocated.
WitnessUnusedBuffer == ~\E a \in Appenders : pc[a] = "GiveBack" /\ taken[a]

\* The accumulator is closed between the two phases of an append.
WitnessClosedBetweenThePhases == ~\E a \in Appenders : pc[a] = "GiveBack" /\ ~taken[a]

WitnessTwoInABatch == \A b \in Numbers : Len(batch[b].records) < 2

WitnessWaitsForMemory == ~Exhausted

\* A batch expires while its request is on its way, and the response comes later.
WitnessExpiredInAir == ~\E b \in inAir : batch[b].final = "expired"

\* A flush has begun before the batch that it waits for was split.
WitnessSplitUnderFlush ==
    ~\E f \in Flushers : \E b \in awaited[f] : batch[b].final = "split" /\ ~AllDone(b)

WitnessTriedAgain == \A b \in Numbers : batch[b].attempts = 0

\* Somebody appends while everything is being aborted.
WitnessAppendsDuringAbort == ~(sender = "AbortEnd" /\ appending # {})

\* A batch is made after the round that should have aborted it.
WitnessMadeAfterTheRound == ~(sender = "AbortRound" /\ incomplete # {})

\* A split while a batch waits that came later.
WitnessSplitBeforeAnother ==
    ~\E p \in AllPartitions : \E b \in Range(queue[p]) : Len(Place(b)) > 1 /\ Len(Place(Last(p))) = 1

\* What was sent again stands behind what is younger.
WitnessYoungerFirst == \A p \in AllPartitions : queue[p] = <<>> \/ ExpiresNext(Head(queue[p]))

WitnessChildAborted == \A b \in Numbers : batch[b].final = "aborted" => Len(Place(b)) = 1

\* An append raises that has got its memory.
WitnessRaisesWithMemory ==
    ~\E a \in Unlucky : pc[a] = "GiveBack" /\ ~taken[a] /\ ~closed

WitnessPassedOver == \A p \in AllPartitions : passedOver[p] = 0
=============================================================================
