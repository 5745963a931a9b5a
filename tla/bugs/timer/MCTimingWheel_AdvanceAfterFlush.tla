------------------- MODULE MCTimingWheel_AdvanceAfterFlush -------------------
(***************************************************************************)
(* Known bug advance-after-flush: the bucket is flushed before the wheel's *)
(* clock has moved to its expiration (1.6).  Each entry still lies as far  *)
(* ahead as when it was added and goes back into the same bucket: the      *)
(* flush never ends.  The manifest puts these definitions in the place of  *)
(* TimingWheel's PollOf, FlushDone and AdvanceClock.                       *)
(***************************************************************************)
EXTENDS MCTimingWheel

PollOf_then_flush(k) ==
    /\ phase = "polling"
    /\ HeadIsDue
    /\ MayTake(k)
    /\ queue' = SubSeq(queue, 1, k - 1) \o SubSeq(queue, k + 1, Len(queue))
    /\ taken' = <<queue[k].level, queue[k].index>>
    /\ phase' = "flushing"
    /\ UNCHANGED <<now, current, expiration, entries, counter, bound, rejected, callers>>

FlushDone_then_advance ==
    /\ phase = "flushing"
    /\ TakenEntries = <<>>
    /\ expiration' = [expiration EXCEPT ![taken[1]][taken[2]] = Idle]
    /\ phase' = "advancing"
    /\ UNCHANGED <<now, current, entries, queue, counter, bound, taken, rejected, callers>>

\* The bucket is idle by now: the clock does not move even when a flush of no entries ends.
AdvanceClock_at_last ==
    /\ phase = "advancing"
    /\ current' = [l \in Levels |-> ClockAfter(l, AdvanceTarget)]
    /\ phase' = "polling"
    /\ taken' = <<>>
    /\ UNCHANGED <<now, expiration, entries, queue, counter, bound, rejected, callers>>
=============================================================================
