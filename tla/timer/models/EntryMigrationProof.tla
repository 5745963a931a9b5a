------------------------ MODULE EntryMigrationProof ------------------------
(* Made by python -m wheelproof_lab pages proofs: what z3 proves for any number. *)
EXTENDS EntryMigration

RECURSIVE SumOf(_, _)
SumOf(part(_), elements) ==
    IF elements = {}
    THEN 0
    ELSE LET one == CHOOSE element \in elements : TRUE
         IN  part(one) + SumOf(part, elements \ {one})

ATaskIsBoundToOneEntry ==
    \A x \in Tasks, y \in Nodes, z \in Nodes :
        (~((bound[x] = y) /\ (bound[x] = z)) \/ (y = z))

AThreadWorksOnOneEntry ==
    \A x \in Threads, y \in Nodes, z \in Nodes :
        (~((at[x] = y) /\ (at[x] = z)) \/ (y = z))

BoundToAnEntryOfItsOwn ==
    \A x \in Tasks, y \in Nodes :
        (~(bound[x] = y) \/ (y \in Entries /\ (TaskOf[y] = x)))

WhatIsBoundHasNotRun ==
    \A x \in Nodes :
        \/ ~(\E y \in Tasks : ((x \in Entries /\ (TaskOf[x] = y)) /\ (bound[y] = x)))
        \/ /\ ((IF x \in Entries THEN submissions[x] ELSE 0) = 0)
           /\ ~(x \in withdrawn)
           /\ ~(x \in replaced)

AnEntryThatIsSubmittedWasClaimed ==
    \A x \in Threads, y \in Nodes :
        \/ ~((pc[x] = "Submit") /\ (at[x] = y))
        \/ /\ ((IF y \in Entries THEN submissions[y] ELSE 0) = 0)
           /\ ~(y \in withdrawn)
           /\ ~(y \in replaced)
           /\ ~(\E z \in Tasks : ((y \in Entries /\ (TaskOf[y] = z)) /\ (bound[z] = y)))

OneThreadSubmitsAnEntry ==
    \A x \in Threads, y \in Threads, z \in Nodes :
        \/ ~((pc[x] = "Submit") /\ (pc[y] = "Submit") /\ (at[x] = z) /\ (at[y] = z))
        \/ (x = y)

WhatACancelPreventedDoesNotRun ==
    \A x \in Threads, y \in Nodes :
        \/ ~((pc[x] = "CancelUnlock") /\ (at[x] = y))
        \/ /\ ((IF y \in Entries THEN submissions[y] ELSE 0) = 0)
           /\ ~(\E z \in Tasks : ((y \in Entries /\ (TaskOf[y] = z)) /\ (bound[z] = y)))
           /\ ~(\E z \in Threads : ((pc[z] = "Submit") /\ (at[z] = y)))

SubmittedOnce ==
    \A x \in Nodes :
        /\ ((IF x \in Entries THEN submissions[x] ELSE 0) >= 0)
        /\ (1 >= (IF x \in Entries THEN submissions[x] ELSE 0))
        /\ \/ ~((x \in withdrawn) \/ (x \in replaced))
           \/ ((IF x \in Entries THEN submissions[x] ELSE 0) = 0)

AnAdderBindsANewEntry ==
    \A x \in Threads, y \in Nodes :
        \/ ~((x \in Adders) /\ (x \in (Adders \cup Movers) /\ (EntryOf[x] = y)) /\ (pc[x] \in {"BindLock", "BindSwap"}))
        \/ /\ ~(\E z \in Tasks : ((y \in Entries /\ (TaskOf[y] = z)) /\ (bound[z] = y)))
           /\ ((IF y \in Entries THEN submissions[y] ELSE 0) = 0)
           /\ ~(y \in withdrawn)
           /\ ~(y \in replaced)
           /\ (\A z \in Threads : (~(at[z] = y) \/ ~(pc[z] \in {"Submit", "CancelUnlock"})))

ANodeHasOneNeighbour ==
    \A x \in Nodes, y \in Nodes, z \in Nodes :
        (~((next[x] = y) /\ (next[x] = z)) \/ (y = z))

AFlusherHasOneBucket ==
    /\ \A x \in Threads, y \in Nodes, z \in Nodes :
           \/ ~((x \in Flushers /\ (flushing[x] = y)) /\ (x \in Flushers /\ (flushing[x] = z)))
           \/ (y = z)
    /\ \A x \in Threads, y \in Nodes :
           (~(x \in Flushers /\ (flushing[x] = y)) \/ (x \in Flushers))
    /\ \A x \in Threads :
           \/ ~(x \in Flushers)
           \/ ((pc[x] = "Poll") = ~(\E y \in Nodes : (x \in Flushers /\ (flushing[x] = y))))

AThreadRemovesFromOneBucket ==
    \A x \in Threads, y \in Nodes, z \in Nodes :
        (~((holder[x] = y) /\ (holder[x] = z)) \/ (y = z))

ACancellerHasFoundItsEntry ==
    \A x \in Threads, y \in Nodes :
        \/ ~((x \in Cancellers) /\ (pc[x] \in {"CancelLock", "CancelRead", "Done"}))
        \/ ~(at[x] = y)

EachThreadIsAtAStepOfItsOwn ==
    \A x \in Threads :
        /\ \/ ~(x \in Cancellers)
           \/ (pc[x] \in {"CancelLock", "CancelRead", "CancelUnbind", "CancelUnlock", "RemoveReadList", "RemoveLockList", "RemoveLockEntry", "RemoveTest", "RemoveClear", "RemoveCount", "RemoveUnlockEntry", "RemoveUnlockList", "Done"})
        /\ \/ ~(x \in Movers)
           \/ (pc[x] \in {"AddLockList", "AddLockEntry", "AddTest", "AddLink", "AddCount", "AddUnlockEntry", "AddUnlockList", "RemoveReadList", "RemoveLockList", "RemoveLockEntry", "RemoveTest", "RemoveClear", "RemoveCount", "RemoveUnlockEntry", "RemoveUnlockList", "Done"})
        /\ (~(pc[x] \in {"BindLock", "BindSwap", "BindUnlock"}) \/ (x \in Adders))
        /\ \/ ~(pc[x] \in {"CancelLock", "CancelRead", "CancelUnbind", "CancelUnlock"})
           \/ (x \in Cancellers)
        /\ (~(pc[x] \in {"Poll", "FlushUnlock"}) \/ (x \in Flushers))
        /\ (~(x \in Flushers) \/ ~(pc[x] = "Done"))
        /\ \/ ~((IF back[x] = None THEN "None" ELSE back[x]) = "BindUnlock")
           \/ (x \in Adders)
        /\ \/ ~((IF back[x] = None THEN "None" ELSE back[x]) = "CancelUnbind")
           \/ (x \in Cancellers)
        /\ \/ ~((x \in Cancellers) /\ (pc[x] \in {"RemoveReadList", "RemoveLockList", "RemoveLockEntry", "RemoveTest", "RemoveClear", "RemoveCount", "RemoveUnlockEntry", "RemoveUnlockList"}))
           \/ ((IF back[x] = None THEN "None" ELSE back[x]) = "CancelUnbind")
        /\ \/ ~(pc[x] \in {"RemoveReadList", "RemoveLockList", "RemoveLockEntry", "RemoveTest", "RemoveClear", "RemoveCount", "RemoveUnlockEntry", "RemoveUnlockList"})
           \/ ~((IF back[x] = None THEN "None" ELSE back[x]) = "None")
           \/ /\ (pc[x] \in {"RemoveLockEntry", "RemoveTest", "RemoveClear", "RemoveCount", "RemoveUnlockEntry"})
              /\ \E y \in Nodes :
                     ((holder[x] = y) /\ (x \in Flushers /\ (flushing[x] = y)))

EachHasOneOfAKind ==
    /\ \A x \in Threads, y \in Nodes, z \in Nodes :
           (~((at[x] = y) /\ (at[x] = z)) \/ (y = z))
    /\ \A x \in Threads, y \in Nodes, z \in Nodes :
           (~((holder[x] = y) /\ (holder[x] = z)) \/ (y = z))
    /\ \A x \in Threads, y \in Nodes, z \in Nodes :
           (~((target[x] = y) /\ (target[x] = z)) \/ (y = z))
    /\ \A x \in Threads, y \in Nodes, z \in Nodes :
           (~((tail[x] = y) /\ (tail[x] = z)) \/ (y = z))
    /\ \A x \in Threads, y \in Nodes, z \in Nodes :
           \/ ~((x \in Flushers /\ (flushing[x] = y)) /\ (x \in Flushers /\ (flushing[x] = z)))
           \/ (y = z)
    /\ \A x \in Nodes, y \in Nodes, z \in Nodes :
           \/ ~((x \in Entries /\ (list[x] = y)) /\ (x \in Entries /\ (list[x] = z)))
           \/ (y = z)
    /\ \A x \in Nodes, y \in Nodes, z \in Nodes :
           (~((next[x] = y) /\ (next[x] = z)) \/ (y = z))
    /\ \A x \in Nodes, y \in Nodes, z \in Nodes :
           (~((prev[x] = y) /\ (prev[x] = z)) \/ (y = z))
    /\ \A x \in Nodes, y \in Threads, z \in Threads :
           \/ ~((x \in Entries /\ (entryMonitor[x] = y)) /\ (x \in Entries /\ (entryMonitor[x] = z)))
           \/ (y = z)
    /\ \A x \in Nodes, y \in Threads, z \in Threads :
           \/ ~((x \in Buckets /\ (bucketMonitor[x] = y)) /\ (x \in Buckets /\ (bucketMonitor[x] = z)))
           \/ (y = z)

EntriesAndBucketsAreInTheirPlaces ==
    /\ (\A x \in Threads : (\A y \in Nodes : (~(at[x] = y) \/ (y \in Entries))))
    /\ (\A x \in Tasks : (\A y \in Nodes : (~(bound[x] = y) \/ (y \in Entries))))
    /\ \A x \in Threads, y \in Nodes :
           \/ ~((holder[x] = y) \/ (target[x] = y) \/ (x \in Flushers /\ (flushing[x] = y)))
           \/ (y \in Buckets)
    /\ \A x \in Nodes, y \in Nodes :
           (~(x \in Entries /\ (list[x] = y)) \/ ((x \in Entries) /\ (y \in Buckets)))

AFlusherFlushesUntilItPolls ==
    /\ \A x \in Threads, y \in Nodes :
           \/ ~(x \in Flushers /\ (flushing[x] = y))
           \/ ((x \in Flushers) /\ ~(pc[x] = "Poll"))
    /\ (\A x \in Threads : (~(pc[x] \in {"Poll", "FlushUnlock"}) \/ (x \in Flushers)))
    /\ \A x \in Threads :
           \/ ~((x \in Flushers) /\ ~(pc[x] = "Poll"))
           \/ (\E y \in Nodes : (x \in Flushers /\ (flushing[x] = y)))

AFlusherAddsAfterwards ==
    \A x \in Threads, y \in Nodes :
        \/ ~(x \in Flushers)
        \/ /\ ~(pc[x] \in {"BindLock", "BindSwap", "BindUnlock", "CancelLock", "CancelRead", "CancelUnbind", "CancelUnlock", "Done"})
           /\ ~((IF back[x] = None THEN "None" ELSE back[x]) \in {"BindUnlock", "CancelUnbind"})
           /\ \/ ~(pc[x] \in {"RemoveReadList", "RemoveLockList", "RemoveUnlockList"})
              \/ ((IF back[x] = None THEN "None" ELSE back[x]) = "AddLockList")
           /\ \/ ~((pc[x] \in {"RemoveLockEntry", "RemoveTest", "RemoveClear", "RemoveCount", "RemoveUnlockEntry", "RemoveUnlockList"}) /\ (holder[x] = y) /\ ~(x \in Flushers /\ (flushing[x] = y)))
              \/ ((IF back[x] = None THEN "None" ELSE back[x]) = "AddLockList")

TheEntrysMonitorIsHeldInside ==
    \A x \in Nodes, y \in Threads :
        ((x \in Entries /\ (entryMonitor[x] = y)) = ((at[y] = x) /\ (pc[y] \in {"AddTest", "AddLink", "AddCount", "AddUnlockEntry", "RemoveTest", "RemoveClear", "RemoveCount", "RemoveUnlockEntry"})))

TheBucketsMonitorIsHeldInside ==
    \A x \in Nodes, y \in Threads :
        ((x \in Buckets /\ (bucketMonitor[x] = y)) = (((target[y] = x) /\ (pc[y] \in {"AddLockEntry", "AddTest", "AddLink", "AddCount", "AddUnlockEntry", "AddUnlockList"})) \/ ((holder[y] = x) /\ (pc[y] \in {"RemoveLockEntry", "RemoveTest", "RemoveClear", "RemoveCount", "RemoveUnlockEntry", "RemoveUnlockList"})) \/ (y \in Flushers /\ (flushing[y] = x))))

ASecondBucketIsAnother ==
    \A x \in Threads, y \in Nodes :
        \/ ~(x \in Flushers /\ (flushing[x] = y))
        \/ /\ ~((target[x] = y) /\ (pc[x] \in {"AddLockEntry", "AddTest", "AddLink", "AddCount", "AddUnlockEntry", "AddUnlockList"}))
           /\ ~((holder[x] = y) /\ (pc[x] = "RemoveUnlockList"))

LinkedEntriesNameAList ==
    \A x \in Nodes :
        \/ ~(x \in Entries /\ (Linked(x)))
        \/ ((x \in Entries) /\ (\E y \in Nodes : (x \in Entries /\ (list[x] = y))))

AListIsNamedUntilItIsCleared ==
    \A x \in Nodes, y \in Nodes :
        \/ ~(x \in Entries /\ (list[x] = y))
        \/ ((x \in Entries /\ (Linked(x))) = ~(\E z \in Threads : ((pc[z] = "RemoveClear") /\ (at[z] = x))))

WhatIsAddedIsNotLinkedYet ==
    \A x \in Threads, y \in Nodes :
        \/ ~((pc[x] = "AddLink") /\ (at[x] = y))
        \/ /\ ~(y \in Entries /\ (Linked(y)))
           /\ (\A z \in Nodes : ~(y \in Entries /\ (list[y] = z)))

WhatIsClearedNamesItsList ==
    \A x \in Threads, y \in Nodes, z \in Nodes :
        \/ ~((pc[x] = "RemoveClear") /\ (at[x] = y) /\ (holder[x] = z))
        \/ ((y \in Entries /\ (list[y] = z)) /\ ~(y \in Entries /\ (Linked(y))))

BeforeOrdersWhatIsLinked ==
    \A x \in Nodes, y \in Nodes :
        \/ ~(\E b \in Buckets : LET l == Forward(b) IN \E i, j \in DOMAIN l : i < j /\ l[i] = x /\ l[j] = y)
        \/ /\ (x \in Entries /\ (Linked(x)))
           /\ (y \in Entries /\ (Linked(y)))
           /\ ~(\E b \in Buckets : LET l == Forward(b) IN \E i, j \in DOMAIN l : i < j /\ l[i] = y /\ l[j] = x)

BeforeStaysInAList ==
    \A x \in Nodes, y \in Nodes, z \in Nodes :
        \/ ~((\E b \in Buckets : LET l == Forward(b) IN \E i, j \in DOMAIN l : i < j /\ l[i] = x /\ l[j] = y) /\ (x \in Entries /\ (list[x] = z)))
        \/ (y \in Entries /\ (list[y] = z))

BeforeIsTransitive ==
    \A x \in Nodes, y \in Nodes, z \in Nodes :
        \/ ~((\E b \in Buckets : LET l == Forward(b) IN \E i, j \in DOMAIN l : i < j /\ l[i] = x /\ l[j] = y) /\ (\E b \in Buckets : LET l == Forward(b) IN \E i, j \in DOMAIN l : i < j /\ l[i] = y /\ l[j] = z))
        \/ (\E b \in Buckets : LET l == Forward(b) IN \E i, j \in DOMAIN l : i < j /\ l[i] = x /\ l[j] = z)

OneOfTwoComesBefore ==
    \A x \in Nodes, y \in Nodes, z \in Nodes :
        \/ ~((x \in Entries /\ (Linked(x))) /\ (x \in Entries /\ (list[x] = z)) /\ (y \in Entries /\ (Linked(y))) /\ (y \in Entries /\ (list[y] = z)))
        \/ (x = y)
        \/ (\E b \in Buckets : LET l == Forward(b) IN \E i, j \in DOMAIN l : i < j /\ l[i] = x /\ l[j] = y)
        \/ (\E b \in Buckets : LET l == Forward(b) IN \E i, j \in DOMAIN l : i < j /\ l[i] = y /\ l[j] = x)

OnlyWhatIsLinkedHasLinks ==
    \A x \in Nodes, y \in Nodes :
        \/ ~((next[x] = y) \/ (prev[x] = y))
        \/ /\ \/ (x \in Buckets)
              \/ (x \in Entries /\ (Linked(x)))
              \/ (\E z \in Threads : ((pc[z] = "AddLink") /\ (at[z] = x)))
           /\ ((y \in Buckets) \/ (y \in Entries /\ (Linked(y))))

ALinkLeadsToTheNextOne ==
    \A x \in Nodes, y \in Nodes, z \in Nodes :
        \/ ~((x \in Entries /\ (Linked(x))) /\ (y \in Entries /\ (Linked(y))) /\ (next[x] = y))
        \/ /\ (\E b \in Buckets : LET l == Forward(b) IN \E i, j \in DOMAIN l : i < j /\ l[i] = x /\ l[j] = y)
           /\ \/ ~(\E b \in Buckets : LET l == Forward(b) IN \E i, j \in DOMAIN l : i < j /\ l[i] = x /\ l[j] = z)
              \/ (z = y)
              \/ (\E b \in Buckets : LET l == Forward(b) IN \E i, j \in DOMAIN l : i < j /\ l[i] = y /\ l[j] = z)

ARootLeadsToTheFirst ==
    \A x \in Nodes, y \in Nodes, z \in Nodes :
        \/ ~((x \in Buckets) /\ (y \in Entries /\ (Linked(y))) /\ (next[x] = y))
        \/ /\ (y \in Entries /\ (list[y] = x))
           /\ \/ ~((z \in Entries /\ (Linked(z))) /\ (z \in Entries /\ (list[z] = x)))
              \/ (z = y)
              \/ (\E b \in Buckets : LET l == Forward(b) IN \E i, j \in DOMAIN l : i < j /\ l[i] = y /\ l[j] = z)

TheLastLeadsToTheRoot ==
    \A x \in Nodes, y \in Nodes, z \in Nodes :
        \/ ~((x \in Entries /\ (Linked(x))) /\ (y \in Buckets) /\ (next[x] = y))
        \/ /\ (x \in Entries /\ (list[x] = y))
           /\ ~(\E b \in Buckets : LET l == Forward(b) IN \E i, j \in DOMAIN l : i < j /\ l[i] = x /\ l[j] = z)

AnEmptyListLeadsToItself ==
    \A x \in Nodes, y \in Nodes, z \in Nodes :
        \/ ~((x \in Buckets) /\ (y \in Buckets) /\ (next[x] = y))
        \/ /\ (x = y)
           /\ ~((z \in Entries /\ (Linked(z))) /\ (z \in Entries /\ (list[z] = x)))

LinksLeadBack ==
    \A x \in Nodes, y \in Nodes :
        \/ ~(next[x] = y)
        \/ (prev[y] = x)
        \/ \E z \in Threads :
               ((pc[z] = "AddLink") /\ ((at[z] = x) \/ ((tail[z] = x) /\ (target[z] = y))))

LinksLeadForth ==
    \A x \in Nodes, y \in Nodes :
        \/ ~(prev[x] = y)
        \/ (next[y] = x)
        \/ \E z \in Threads :
               ((pc[z] = "AddLink") /\ ((at[z] = x) \/ ((tail[z] = y) /\ (target[z] = x))))

AnAddersEntryHasItsPlace ==
    \A x \in Threads, y \in Nodes, z \in Nodes :
        \/ ~((pc[x] = "AddLink") /\ (at[x] = y))
        \/ (((next[y] = z) = (target[x] = z)) /\ ((prev[y] = z) = (tail[x] = z)))

AnAdderHasFoundTheTail ==
    \A x \in Threads, y \in Nodes, z \in Nodes :
        \/ ~((pc[x] = "AddLink") /\ (target[x] = y) /\ (tail[x] = z))
        \/ ((next[z] = y) /\ (prev[y] = z))

TheTailIsInTheTarget ==
    \A x \in Threads, y \in Nodes, z \in Nodes :
        \/ ~((pc[x] = "AddLink") /\ (tail[x] = y))
        \/ /\ ((y \in Entries /\ (Linked(y))) \/ (y \in Buckets))
           /\ (~(y \in Entries /\ (list[y] = z)) \/ (target[x] = z))
           /\ (~(y \in Buckets) \/ (target[x] = y))

TheCounterCountsWhatIsLinked ==
    ((counter + SumOf(LAMBDA x : (IF (pc[x] = "AddCount") THEN 1 ELSE 0), Threads)) = (SumOf(LAMBDA x : (IF (x \in Entries /\ (Linked(x))) THEN 1 ELSE 0), Nodes) + SumOf(LAMBDA x : (IF (pc[x] \in {"RemoveClear", "RemoveCount"}) THEN 1 ELSE 0), Threads)))
=============================================================================
