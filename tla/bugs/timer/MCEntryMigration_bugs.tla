------------------------ MODULE MCEntryMigration_bugs ------------------------
(* What replaces an action of EntryMigration to bring a mistake into it.  The manifest names the
   action that it replaces and the property that must break. *)
EXTENDS MCEntryMigration

\* KAFKA-2226: any list will do, even one whose monitor this thread does not hold.
RemoveFromAnyList(t) ==
    /\ pc[t] = "RemoveTest"
    /\ IF list[at[t]] # None
       THEN /\ Unlink(at[t])
            /\ Go(t, "RemoveClear")
       ELSE /\ Go(t, "RemoveUnlockEntry")
            /\ UNCHANGED <<next, prev>>
    /\ UNCHANGED <<monitors, bound, list, counter, registers, history>>

\* KAFKA-2226: the flusher does not ask whether an entry was cancelled.
FlushWithoutTest(t) ==
    /\ pc[t] = "TestCancelled"
    /\ IF (t \in Flushers \/ Bound(at[t])) /\ Destination(t) # Expired
       THEN /\ Go(t, "RemoveReadList")
            /\ target' = [target EXCEPT ![t] = Destination(t)]
            /\ back' = [back EXCEPT ![t] = "AddLockList"]
       ELSE /\ Go(t, "Claim")
            /\ UNCHANGED <<target, back>>
    /\ UNCHANGED <<monitors, bound, links, at, holder, tail, flushing, history>>

\* The same where an entry is due: it is submitted whatever has become of it.
SubmitWithoutTest(t) ==
    /\ pc[t] = "Claim"
    /\ Go(t, "Submit")
    /\ UNCHANGED <<monitors, bound, links, registers, history>>

\* Kafka's own: test, and submit in a later step (1.2 d).  The binding stays.
TestThenSubmit(t) ==
    /\ pc[t] = "Claim"
    /\ IF Bound(at[t])
       THEN /\ Go(t, "Submit")
            /\ UNCHANGED <<at, holder>>
       ELSE Finish(t)
    /\ UNCHANGED <<monitors, bound, links, target, tail, back, flushing, history>>

\* Any binding of the task will do, a newer entry's as well.
ClaimForTheTask(t) ==
    LET k == TaskOf[at[t]] IN
    /\ pc[t] = "Claim"
    /\ IF bound[k] # None
       THEN /\ bound' = [bound EXCEPT ![k] = None]
            /\ outcome' = [outcome EXCEPT ![k] = "submitted"]
            /\ Go(t, "Submit")
            /\ UNCHANGED <<at, holder>>
       ELSE /\ Finish(t)
            /\ UNCHANGED <<bound, outcome>>
    /\ UNCHANGED <<monitors, links, target, tail, back, flushing, submissions, withdrawn,
                   replaced, doomed>>

\* What the wheel does not take is forgotten (1.2 d left out).
ForgetExpired(t) ==
    /\ pc[t] = "Claim"
    /\ Finish(t)
    /\ UNCHANGED <<monitors, bound, links, target, tail, back, flushing, history>>

\* The entry's monitor is dropped, in list.add and in list.remove.
AddWithoutEntryMonitor(t) ==
    /\ pc[t] = "AddLockEntry"
    /\ Go(t, "AddTest")
    /\ UNCHANGED <<monitors, bound, links, registers, history>>

RemoveWithoutEntryMonitor(t) ==
    /\ pc[t] = "RemoveLockEntry"
    /\ Go(t, "RemoveTest")
    /\ UNCHANGED <<monitors, bound, links, registers, history>>

\* list.remove without the list's monitor.
RemoveWithoutListMonitor(t) ==
    /\ pc[t] = "RemoveLockList"
    /\ Go(t, "RemoveLockEntry")
    /\ UNCHANGED <<monitors, bound, links, registers, history>>

\* cancelled() under the task's monitor, which comes before the bucket's that the flusher holds.
TestCancelledUnderTheMonitor(t) ==
    /\ pc[t] = "TestCancelled"
    /\ taskMonitor[TaskOf[at[t]]] = None
    /\ IF Bound(at[t]) /\ Destination(t) # Expired
       THEN /\ Go(t, "RemoveReadList")
            /\ target' = [target EXCEPT ![t] = Destination(t)]
            /\ back' = [back EXCEPT ![t] = "AddLockList"]
       ELSE /\ Go(t, "Claim")
            /\ UNCHANGED <<target, back>>
    /\ UNCHANGED <<monitors, bound, links, at, holder, tail, flushing, history>>

\* list.add takes the entry out of its old list while it holds its own: lower before upper.
RemoveInsideAdd(t) ==
    /\ pc[t] = "AddLockEntry"
    /\ IF list[at[t]] # None
       THEN /\ back' = [back EXCEPT ![t] = "AddLockEntry"]
            /\ Go(t, "RemoveReadList")
            /\ UNCHANGED entryMonitor
       ELSE /\ entryMonitor[at[t]] = None
            /\ entryMonitor' = [entryMonitor EXCEPT ![at[t]] = t]
            /\ Go(t, "AddTest")
            /\ UNCHANGED back
    /\ UNCHANGED <<taskMonitor, bucketMonitor, bound, links, at, holder, target, tail, flushing,
                   history>>

\* list.add does not look again whether the entry is still in no list.
LinkWithoutTest(t) ==
    /\ pc[t] = "AddTest"
    /\ PrepareLink(t)
    /\ UNCHANGED <<monitors, bound, list, counter, at, holder, target, back, flushing, history>>

\* A removal that finds the entry elsewhere is counted all the same.
CountEveryRemoval(t) ==
    /\ pc[t] = "RemoveTest"
    /\ IF list[at[t]] = holder[t]
       THEN /\ Unlink(at[t])
            /\ Go(t, "RemoveClear")
       ELSE /\ Go(t, "RemoveCount")
            /\ UNCHANGED <<next, prev>>
    /\ UNCHANGED <<monitors, bound, list, counter, registers, history>>

\* `list` is not cleared, so that the entry seems to be linked for ever.
ClearNothing(t) ==
    /\ pc[t] = "RemoveClear"
    /\ Go(t, "RemoveCount")
    /\ UNCHANGED <<monitors, bound, links, registers, history>>

UnlinkOnce(t) ==
    /\ pc[t] = "RemoveTest"
    /\ IF list[at[t]] = holder[t] /\ next[at[t]] # None
       THEN /\ Unlink(at[t])
            /\ Go(t, "RemoveClear")
       ELSE /\ Go(t, "RemoveUnlockEntry")
            /\ UNCHANGED <<next, prev>>
    /\ UNCHANGED <<monitors, bound, list, counter, registers, history>>

\* cancel() without compare-and-set: it believes to have prevented what was claimed already.
CancelBlindly(c) ==
    LET k == Victim[c] IN
    /\ pc[c] = "CancelUnbind"
    /\ bound' = [bound EXCEPT ![k] = None]
    /\ outcome' = [outcome EXCEPT ![k] = "cancelled"]
    /\ Go(c, "CancelUnlock")
    /\ UNCHANGED <<monitors, links, registers, submissions, withdrawn, replaced, doomed>>

\* The clock is advanced after the flush: entries go back to where they come from (1.6).  The
\* monitor is reentrant, so the flusher gets in.
BelowIsTheSame == [b \in Buckets |-> b]

ReenterList(t) ==
    /\ pc[t] = "AddLockList"
    /\ bucketMonitor[target[t]] \in {None, t}
    /\ bucketMonitor' = [bucketMonitor EXCEPT ![target[t]] = t]
    /\ Go(t, "AddLockEntry")
    /\ UNCHANGED <<taskMonitor, entryMonitor, bound, links, registers, history>>

LeaveList(t) ==
    /\ pc[t] = "AddUnlockList"
    /\ bucketMonitor' =
        [bucketMonitor EXCEPT ![target[t]] = IF t \in Flushers THEN t ELSE None]
    /\ Finish(t)
    /\ target' = [target EXCEPT ![t] = None]
    /\ tail' = [tail EXCEPT ![t] = None]
    /\ UNCHANGED <<taskMonitor, entryMonitor, bound, links, back, flushing, history>>

\* A bucket that holds nothing but leftovers is never flushed.
FlushIfAnyWaits(f, b) ==
    /\ pc[f] = "Poll"
    /\ \E e \in Range(Forward(b)) : Bound(e)
    /\ bucketMonitor[b] = None
    /\ bucketMonitor' = [bucketMonitor EXCEPT ![b] = f]
    /\ flushing' = [flushing EXCEPT ![f] = b]
    /\ doomed' = doomed \cup {e \in Range(Forward(b)) : ~Bound(e)}
    /\ TakeHead(f, b)
    /\ UNCHANGED <<taskMonitor, entryMonitor, bound, links, target, tail, back, outcome,
                   submissions, withdrawn, replaced>>

\* cancel() unbinds the task and leaves its entry where it is.
CancelWithoutRemoval(c) ==
    LET e == bound[Victim[c]] IN
    /\ pc[c] = "CancelRead"
    /\ Go(c, IF e = None THEN "CancelUnlock" ELSE "CancelUnbind")
    /\ at' = [at EXCEPT ![c] = e]
    /\ UNCHANGED <<monitors, bound, links, holder, target, tail, back, flushing, history>>

\* A removal that came too late for one list does not look for the next one.
RemoveOnce(t) ==
    /\ pc[t] = "RemoveUnlockList"
    /\ bucketMonitor' = [bucketMonitor EXCEPT ![holder[t]] = None]
    /\ holder' = [holder EXCEPT ![t] = None]
    /\ Go(t, back[t])
    /\ back' = [back EXCEPT ![t] = None]
    /\ UNCHANGED <<taskMonitor, entryMonitor, bound, links, at, target, tail, flushing, history>>

\* A second add leaves the older entry where it is.
BindWithoutRemoval(a) ==
    LET e == EntryOf[a]
        older == bound[TaskOf[e]]
    IN
    /\ pc[a] = "BindSwap"
    /\ bound' = [bound EXCEPT ![TaskOf[e]] = e]
    /\ Go(a, "BindUnlock")
    /\ replaced' = replaced \cup ({older} \ {None})
    /\ UNCHANGED <<monitors, links, at, holder, target, tail, back, flushing, outcome,
                   submissions, withdrawn, doomed>>

\* An entry is linked before the first one of its list.
PrepareAtTheHead(t) ==
    LET e == at[t]
        root == target[t]
    IN
    /\ next' = [next EXCEPT ![e] = next[root]]
    /\ prev' = [prev EXCEPT ![e] = root]
    /\ tail' = [tail EXCEPT ![t] = root]
    /\ Go(t, "AddLink")

AddLinkAtTheHead(t) ==
    LET e == at[t] IN
    /\ pc[t] = "AddLink"
    /\ list' = [list EXCEPT ![e] = target[t]]
    /\ next' = [next EXCEPT ![tail[t]] = e]
    /\ prev' = [prev EXCEPT ![next[e]] = e]
    /\ Go(t, "AddCount")
    /\ UNCHANGED <<monitors, bound, counter, registers, history>>

\* A flush begins with the last entry of its list.
TakeTheLast(f, b) ==
    IF next[b] = b
    THEN /\ Go(f, "FlushUnlock")
         /\ at' = [at EXCEPT ![f] = None]
         /\ holder' = [holder EXCEPT ![f] = None]
    ELSE /\ Go(f, "RemoveLockEntry")
         /\ at' = [at EXCEPT ![f] = prev[b]]
         /\ holder' = [holder EXCEPT ![f] = b]
=============================================================================
