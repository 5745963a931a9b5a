------------------------ MODULE MCTimingWheel_bugs -------------------------
(***************************************************************************)
(* Mistakes that a timing wheel can be built with.  Each definition here   *)
(* replaces one of TimingWheel, and each is caught by a property (the      *)
(* manifest says which), so no property of TimingWheel is idle.            *)
(***************************************************************************)
EXTENDS MCTimingWheel

\* Not a mistake, but fewer states where lateness does not matter.
MCTick_when_nothing_is_due == phase = "outside" /\ ~HeadIsDue /\ now < Horizon /\ Tick

(* Where an entry goes *)

\* The last bucket of a round shares its slot with the next round's first.
BucketIndex_of_a_smaller_wheel(id) == id % (Buckets - 1)

\* One tick too far: the bucket at hand, perhaps still queued, takes in the next round's entry.
WithinInterval_and_one_more(time, l) == time <= Clock(l) + IntervalOf(l)

\* The tick that has begun counts as still to come.
AlreadyExpired_by_the_clock_alone(time, l) == time < Clock(l)

\* However many were asked for.
Buckets_always_two == 2

\* An overflow wheel's tick is twice the interval below.
TickOf_too_coarse(l) == IF l = 0 THEN TickMs ELSE TickMs * (2 * Buckets) ^ l

\* The bucket expires with the entry that was linked last.
KeyFor_the_entry_itself(e, l) == e.expiration

\* The bucket expires when its last tick has passed.
KeyFor_the_end_of_the_bucket(e, l) == (VirtualId(e.expiration, l) + 1) * TickOf(l)

(* Which bucket is queued, and which is taken *)

Offers_when_empty(l, i, key) == entries[l][i] = <<>>

Offers_at_level_0_only(l, i, key) == l = 0 /\ expiration[l][i] # key

Offer_at_the_end(q, l, i, key) == Append(q, [level |-> l, index |-> i, key |-> key])

MayTake_any_that_is_due(k) == queue[k].key <= now

NothingMoreToTake_after_one_bucket == TRUE

FlushDone_without_reset ==
    /\ phase = "flushing"
    /\ TakenEntries = <<>>
    /\ taken' = <<>>
    /\ phase' = "polling"
    /\ UNCHANGED <<now, current, expiration, entries, queue, counter, bound, rejected, callers>>

FlushDone_and_offered_again ==
    /\ phase = "flushing"
    /\ TakenEntries = <<>>
    /\ queue' = Offer(queue, taken[1], taken[2], TakenExpiration)
    /\ taken' = <<>>
    /\ phase' = "polling"
    /\ UNCHANGED <<now, current, expiration, entries, counter, bound, rejected, callers>>

(* The wheels' clocks *)

\* Taken for the amount by which to advance, the longest wait leads into the future (1.5).
Timeout == 2 * TickMs

AdvanceTarget_by_the_timeout == current[0] + Timeout

\* Past buckets that are still queued.
AdvanceTarget_now == now

Moved_not_truncated_above(l, time) ==
    IF time < current[l] + TickOf(l) THEN current[l]
    ELSE IF l = 0 THEN Truncate(time, TickMs)
    ELSE time

Moved_on_level_0_only(l, time) ==
    IF l = 0 /\ time >= current[0] + TickMs THEN Truncate(time, TickMs) ELSE current[l]

\* Kept as a cursor that starts again with each round.
Moved_within_the_round(l, time) == Truncate(time, TickOf(l)) % IntervalOf(l)

(* What is linked, and counted *)

Linked_at_the_head(list, e) == <<e>> \o list

HeadRemoved_too_late == entries

OlderRemoved_never(t) == entries

\* Only unbinds: the entry stays until its bucket expires.
Cancel_lazily(t) ==
    /\ phase = "outside"
    /\ bound[t] # 0
    /\ End(t, "cancelled")
    /\ UNCHANGED <<now, wheels, thread>>

Cancel_without_counting(t) ==
    /\ phase = "outside"
    /\ bound[t] # 0
    /\ entries' = Without(t)
    /\ End(t, "cancelled")
    /\ UNCHANGED <<now, current, expiration, queue, counter, thread>>

\* Counted by cancel and once more by the list.
Cancel_counting_twice(t) ==
    /\ phase = "outside"
    /\ bound[t] # 0
    /\ entries' = Without(t)
    /\ counter' = counter - 2
    /\ End(t, "cancelled")
    /\ UNCHANGED <<now, current, expiration, queue, thread>>

\* Submitted without being unbound: a cancel that comes later claims to have stopped it.
End_without_unbinding(t, outcome) ==
    /\ bound' = IF outcome = "submitted" THEN bound ELSE [bound EXCEPT ![t] = 0]
    /\ deadline' = [deadline EXCEPT ![t] = 0]
    /\ fate' = [fate EXCEPT ![t] = outcome]
    /\ outcomes' = [outcomes EXCEPT ![t] = @ + 1]
    /\ UNCHANGED adds

\* An add that submits at once goes on to advance the clock.
SubmitAndAdvance ==
    /\ phase = "submitting"
    /\ phase' = "polling"
    /\ rejected' = <<>>
    /\ End(rejected[1].task, "submitted")
    /\ UNCHANGED <<now, wheels, taken>>

\* A flush begins with the entry that was linked last.
LastEntry == TakenEntries[Len(TakenEntries)]

LastRemoved == [entries EXCEPT ![taken[1]][taken[2]] = SubSeq(@, 1, Len(@) - 1)]
=============================================================================
