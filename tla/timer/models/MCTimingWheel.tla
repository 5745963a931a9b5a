--------------------------- MODULE MCTimingWheel ---------------------------
(* TimingWheel within bounds: a horizon before which every add is due, and a number of adds a     *)
(* task.                                                                                          *)
EXTENDS TimingWheel

CONSTANTS
    Horizon,    \* the clock's last value; no deadline lies beyond it
    MaxAdds,    \* how often a task may be added
    Cancellable \* the tasks that may be cancelled

\* A cfg cannot name a negative number.
Delays_smoke == {-1, 0, 1, 3}
Delays_live == {-1, 1, 4}

MCAdd(t, d) == now + d <= Horizon /\ adds[t] < MaxAdds /\ Add(t, d)

MCTick == now < Horizon /\ Tick

AllAreAdded == \A t \in Tasks : adds[t] = MaxAdds

\* Entries by numbers that tell which of two was added first.
NumberOfNext_among_all(t) ==
    1 + Cardinality(UNION {{<<u, k>> : k \in 1 .. adds[u]} : u \in Tasks})

AddedBefore(t, u) == bound[t] < bound[u]

\* Two tasks with the same deadline run in the order in which they were added, if both are added
\* before an advance moves the wheel's clock (1.6.2, 1.13.2).
SameDeadlineRunsInOrderOfAdds ==
    [][\A t, u \in Tasks :
        Submits(u) /\ Waiting(t) /\ AddedBefore(t, u) => deadline[t] # deadline[u]]_vars

MCNext ==
    \/ \E t \in Tasks, d \in Delays : MCAdd(t, d)
    \/ SubmitAtOnce
    \/ \E t \in Cancellable : Cancel(t)
    \/ \E t \in Tasks : CancelInVain(t)
    \/ AwaitDue
    \/ Poll
    \/ AdvanceClock
    \/ FlushEntry
    \/ FlushDone
    \/ EndAdvance
    \/ MCTick

MCSpec == Init /\ [][MCNext]_vars /\ WF_vars(MCTick) /\ WF_vars(SubmitAtOnce) /\ WF_vars(Advance)

\* Timer within the same bounds.
Bounded == INSTANCE MCTimer WITH due <- [t \in Tasks |-> Due(t)], state <- fate

RefinesTimer == Bounded!MCSpec

RefinesTimerButForLiveness == Bounded!Init /\ [][Bounded!MCNext]_(Bounded!vars)

-----------------------------------------------------------------------------

\* Each level but the lowest was needed once for a deadline that its tick does not exceed: it is as
\* many ticks of the level below as buckets were asked for, and two if one was.
LevelsAreBounded ==
    LET size == IF WheelSize > 1 THEN WheelSize ELSE 2
    IN  \A l \in Levels : l > 0 => TickMs * size ^ l <= Horizon

(* Things that must be reachable, or the claims would say nothing *)

TakenHead == Head(TakenEntries)

TakesAnEntry == phase = "flushing" /\ TakenEntries # <<>>

WitnessCascadesTwoLevels ==
    ~(TakesAnEntry /\ taken[1] = 2 /\ LevelFor(TakenHead.expiration, 0) = 0)

WitnessCascadesOneLevel ==
    ~(TakesAnEntry /\ taken[1] = 1 /\ LevelFor(TakenHead.expiration, 0) = 0)

WitnessExpiresFromAnUpperLevel ==
    ~(TakesAnEntry /\ taken[1] > 0 /\ LevelFor(TakenHead.expiration, 0) = Expired)

WitnessRunsEarlyWithinTheTick ==
    ~(TakesAnEntry /\ LevelFor(TakenHead.expiration, 0) = Expired /\ TakenHead.expiration > now)

WitnessSubmittedByAdd == ~(phase = "submitting")

\* On a wheel that lags behind, what is due already goes into a bucket (1.7).
WitnessDueButNotSubmittedByAdd ==
    ~\E t \in Tasks : phase = "outside" /\ Waiting(t) /\ counter = 1 /\ current[0] + TickMs <= now

\* Cancelling made the timer empty, and its bucket is still queued: advance_clock will be true.
WitnessEmptyBucketIsQueued == ~(phase = "outside" /\ counter = 0 /\ queue # <<>>)

\* In a model where nothing is cancelled: an upper bucket lost its entry to an add of the same task.
WitnessAddedAgainToALowerLevel ==
    ~\E t \in Tasks, place \in Places, k \in DOMAIN queue :
        /\ phase = "outside"
        /\ EntryAt(place).task = t /\ EntryAt(place).number > 1
        /\ place[1][1] < queue[k].level
        /\ entries[queue[k].level][queue[k].index] = <<>>

WitnessTwoBucketsExpireTogether ==
    ~\E j, k \in DOMAIN queue : j < k /\ queue[j].key = queue[k].key

WitnessTwoEntriesInABucket == ~\E b \in AllBuckets : Len(EntriesOf(b)) > 1
=============================================================================
