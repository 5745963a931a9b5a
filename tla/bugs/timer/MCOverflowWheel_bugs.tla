-------------------------- MODULE MCOverflowWheel_bugs --------------------------
(* What replaces an action of OverflowWheel to bring a mistake into it. *)
EXTENDS MCOverflowWheel

\* KAFKA-2112: the reference gets visible first, the fields of the wheel afterwards.
MakeEmpty(a) ==
    /\ pc[a] = "Make"
    /\ made' = made \cup {a}
    /\ found' = [found EXCEPT ![a] = a]
    /\ Go(a, "Publish")
    /\ UNCHANGED <<overflow, complete, monitor>>

FillAndUnlock(a) ==
    /\ pc[a] = "Unlock"
    /\ complete' = complete \cup (made \cap {a})
    /\ monitor' = None
    /\ Go(a, "Use")
    /\ UNCHANGED <<overflow, made, found>>

\* Whoever gets the monitor makes a wheel, whatever happened while it waited.
MakeWithoutLooking(a) ==
    /\ pc[a] = "ReadAgain"
    /\ Go(a, "Make")
    /\ UNCHANGED <<overflow, made, complete, monitor, found>>

\* The monitor is not taken.
LockNothing(a) ==
    /\ pc[a] = "Lock"
    /\ Go(a, "ReadAgain")
    /\ UNCHANGED <<overflow, made, complete, monitor, found>>

\* The monitor is given back by the maker alone.
UnlockIfMade(a) ==
    /\ pc[a] = "Unlock"
    /\ monitor' = IF found[a] = a THEN None ELSE monitor
    /\ Go(a, "Use")
    /\ UNCHANGED <<overflow, made, complete, found>>

\* Whoever gives the monitor back forgets the task.
UnlockAndLeave(a) ==
    /\ pc[a] = "Unlock"
    /\ monitor' = None
    /\ Go(a, "Done")
    /\ UNCHANGED <<overflow, made, complete, found>>
=============================================================================
