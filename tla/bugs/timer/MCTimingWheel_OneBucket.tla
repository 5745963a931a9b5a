----------------------- MODULE MCTimingWheel_OneBucket -----------------------
(***************************************************************************)
(* Finding: a wheel of one bucket, taken as it is.  Its interval is its    *)
(* tick, so each overflow wheel is the same wheel over again: whatever is  *)
(* not due at once is handed up for ever, and no level ever takes it in.   *)
(*                                                                         *)
(* TimingWheel chooses the level in one go, which would not end here; so   *)
(* this model of a single add takes each wheel.add as a step (1.3).  The   *)
(* manifest puts BucketsAsAskedFor in the place of Buckets.                *)
(***************************************************************************)
EXTENDS MCTimingWheel

VARIABLES
    time,   \* the deadline of the entry
    asked   \* the level whose wheel is asked to take it in; Expired when one has answered

BucketsAsAskedFor == WheelSize

OneBucketInit == Init /\ asked = 0 /\ time \in {now + d : d \in Delays}

WheelAdd ==
    /\ asked # Expired
    /\ IF AlreadyExpired(time, asked) \/ WithinInterval(time, asked)
       THEN asked' = Expired /\ UNCHANGED current
       ELSE asked' = asked + 1 /\ current' = Extended(current, asked + 1, Clock)
    /\ UNCHANGED <<now, expiration, entries, queue, counter, bound, thread, callers, time>>

OneBucketSpec == OneBucketInit /\ [][WheelAdd]_<<vars, time, asked>>
=============================================================================
