---- MODULE DrivenTimingWheel ----
EXTENDS MCTimingWheel
VARIABLES
    behind,     \* whether the clock has moved since the last advance
    open        \* the tasks that were due when they were added, and no advance has come since
Ready(t) == phase = "outside" /\ ~behind /\ t \notin open
Calm == UNCHANGED <<behind, open>>
DrivenAdd(t, d) ==
    /\ Ready(t)
    /\ MCAdd(t, d)
    /\ open' = IF Truncate(now + d, TickMs) <= now THEN open \cup {t} ELSE open
    /\ UNCHANGED behind
Advanced == behind' = FALSE /\ open' = {}
Tick_ == TRUE /\ phase = "outside" /\ MCTick /\ behind' = TRUE /\ UNCHANGED open
Nothing_ ==
    phase = "outside" /\ (behind \/ open # {}) /\ ~HeadIsDue /\ Advanced /\ UNCHANGED vars
End_ == TRUE /\ EndAdvance /\ Advanced
Step_ ==
    (SubmitAtOnce \/ AwaitDue \/ Poll \/ AdvanceClock \/ FlushEntry \/ FlushDone) /\ Calm
$calls
DrivenSpec ==
    Init /\ behind = FALSE /\ open = {} /\ [][DrivenNext]_<<vars, behind, open>>
====
