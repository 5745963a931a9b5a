------------------------ MODULE EntryMigrationProof ------------------------
(* Made by python -m wheelproof_spec.app.pages.proofs: what z3 proves for any number. *)
EXTENDS EntryMigration

ATaskIsBoundToOneEntry ==
    \A x \in Tasks :
        \A y \in Nodes :
            (\A z \in Nodes : (~((bound[x] = y) /\ (bound[x] = z)) \/ (y = z)))

AThreadWorksOnOneEntry ==
    \A x \in Threads :
        (\A y \in Nodes : (\A z \in Nodes : (~((at[x] = y) /\ (at[x] = z)) \/ (y = z))))

BoundToAnEntryOfItsOwn ==
    \A x \in Tasks :
        (\A y \in Nodes : (~(bound[x] = y) \/ (y \in Entries /\ (TaskOf[y] = x))))

WhatIsBoundHasNotRun ==
    \A x \in Nodes :
        \/ ~(\E y \in Tasks : ((x \in Entries /\ (TaskOf[x] = y)) /\ (bound[y] = x)))
        \/ /\ ((IF x \in Entries THEN submissions[x] ELSE 0) = 0)
           /\ ~(x \in withdrawn)
           /\ ~(x \in replaced)

AnEntryThatIsSubmittedWasClaimed ==
    \A x \in Threads :
        \A y \in Nodes :
            \/ ~((pc[x] = "Submit") /\ (at[x] = y))
            \/ /\ ((IF y \in Entries THEN submissions[y] ELSE 0) = 0)
               /\ ~(y \in withdrawn)
               /\ ~(y \in replaced)
               /\ ~(\E z \in Tasks : ((y \in Entries /\ (TaskOf[y] = z)) /\ (bound[z] = y)))

OneThreadSubmitsAnEntry ==
    \A x \in Threads :
        \A y \in Threads :
            \A z \in Nodes :
                \/ ~((pc[x] = "Submit") /\ (pc[y] = "Submit") /\ (at[x] = z) /\ (at[y] = z))
                \/ (x = y)

WhatACancelPreventedDoesNotRun ==
    \A x \in Threads :
        \A y \in Nodes :
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
    \A x \in Threads :
        \A y \in Nodes :
            \/ ~((x \in Adders) /\ (x \in (Adders \cup Movers) /\ (EntryOf[x] = y)) /\ (pc[x] \in {"BindLock", "BindSwap"}))
            \/ /\ ~(\E z \in Tasks : ((y \in Entries /\ (TaskOf[y] = z)) /\ (bound[z] = y)))
               /\ ((IF y \in Entries THEN submissions[y] ELSE 0) = 0)
               /\ ~(y \in withdrawn)
               /\ ~(y \in replaced)
               /\ \A z \in Threads :
                      (~(at[z] = y) \/ ~(pc[z] \in {"Submit", "CancelUnlock"}))

ANodeHasOneNeighbour ==
    \A x \in Nodes :
        (\A y \in Nodes : (\A z \in Nodes : (~((next[x] = y) /\ (next[x] = z)) \/ (y = z))))

AFlusherHasOneBucket ==
    /\ \A x \in Threads :
           \A y \in Nodes :
               \A z \in Nodes :
                   \/ ~((x \in Flushers /\ (flushing[x] = y)) /\ (x \in Flushers /\ (flushing[x] = z)))
                   \/ (y = z)
    /\ \A x \in Threads :
           (\A y \in Nodes : (~(x \in Flushers /\ (flushing[x] = y)) \/ (x \in Flushers)))
    /\ \A x \in Threads :
           \/ ~(x \in Flushers)
           \/ ((pc[x] = "Poll") = ~(\E y \in Nodes : (x \in Flushers /\ (flushing[x] = y))))

AThreadRemovesFromOneBucket ==
    \A x \in Threads :
        \A y \in Nodes :
            (\A z \in Nodes : (~((holder[x] = y) /\ (holder[x] = z)) \/ (y = z)))

ACancellerHasFoundItsEntry ==
    \A x \in Threads :
        \A y \in Nodes :
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
=============================================================================
