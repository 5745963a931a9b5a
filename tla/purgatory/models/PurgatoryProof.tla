--------------------------- MODULE PurgatoryProof ---------------------------
(* Made by python -m wheelproof_lab pages proofs: what z3 proves for any number. *)
EXTENDS Purgatory

EachThreadIsAtAStepOfItsOwn ==
    \A x \in Threads :
        /\ \/ ~(x \in Watchers)
           \/ (pc[x] \in {"TestOpen", "WatchLock", "TryFirst", "WatchIsDone", "Watch", "TryLast", "TailIsDone", "AddToTimer", "TimeoutStarted", "TailIsDoneAgain", "TailCancel", "Count", "ForceIsDone", "ForceComplete", "EndTimeout", "CancelTask", "OnComplete", "Unlock", "Refused", "Done"})
        /\ \/ ~(x \in Triggers)
           \/ (pc[x] \in {"MakeTrue", "FetchWatchers", "Snapshot", "WalkIsDone", "Lock", "IsDoneUnderLock", "TryComplete", "ForceIsDone", "ForceComplete", "EndTimeout", "CancelTask", "OnComplete", "Unlock", "WalkRemove", "TestEmpty", "RemoveKeyIfEmpty", "Done"})
        /\ \/ ~(x \in Timers)
           \/ (pc[x] \in {"Claim", "ForceIsDone", "ForceLock", "ForceComplete", "EndTimeout", "CancelTask", "OnComplete", "Unlock", "OnExpiration"})
        /\ \/ ~(x \in Cancellers)
           \/ (pc[x] \in {"RemoveKey", "Snapshot", "CancelOperation", "EndTimeout", "CancelTask", "Done"})
        /\ (~(x \in Closers) \/ (pc[x] \in {"Shutdown", "Done"}))

EachHasOneOfAKind ==
    /\ \A x \in Threads, y \in Operations, z \in Operations :
           (~((at[x] = y) /\ (at[x] = z)) \/ (y = z))
    /\ \A x \in Threads, y \in Lists, z \in Lists :
           (~((list[x] = y) /\ (list[x] = z)) \/ (y = z))
    /\ \A x \in Operations, y \in Threads, z \in Threads :
           (~((lock[x] = y) /\ (lock[x] = z)) \/ (y = z))
    /\ \A x \in Operations, y \in Threads, z \in Threads :
           (~((ender[x] = y) /\ (ender[x] = z)) \/ (y = z))
    /\ \A x \in Keys, y \in Lists, z \in Lists :
           (~((watchersOf[x] = y) /\ (watchersOf[x] = z)) \/ (y = z))

AWatcherWorksOnItsOperation ==
    \A x \in Threads, y \in Operations :
        (~(x \in Watchers) \/ ((at[x] = y) = (x \in Watchers /\ (OperationOf[x] = y))))

TheLockIsHeldInside ==
    \A x \in Operations, y \in Threads :
        ((lock[x] = y) = ((at[y] = x) /\ (((y \in Watchers) /\ (pc[y] \in {"TryFirst", "WatchIsDone", "Watch", "TryLast", "ForceIsDone", "ForceComplete", "EndTimeout", "CancelTask", "OnComplete", "Unlock"})) \/ ((y \in Triggers) /\ (pc[y] \in {"IsDoneUnderLock", "TryComplete", "ForceIsDone", "ForceComplete", "EndTimeout", "CancelTask", "OnComplete", "Unlock"})) \/ ((y \in Timers) /\ (pc[y] \in {"ForceComplete", "EndTimeout", "CancelTask", "OnComplete", "Unlock"})))))

DoneMeansEndedByAThread ==
    /\ \A x \in Operations :
           (~~(state[x] = "pending") \/ (\E y \in Threads : (ender[x] = y)))
    /\ \A x \in Operations, y \in Threads :
           (~(ender[x] = y) \/ ~(state[x] = "pending"))
    /\ \A x \in Operations, y \in Threads :
           (~(ender[x] = y) \/ ((state[x] = "cancelled") = (y \in Cancellers)))

WhoeverAnswersEndedIt ==
    /\ \A x \in Threads, y \in Operations :
           \/ ~((at[x] = y) /\ (pc[x] \in {"EndTimeout", "CancelTask", "OnComplete"}))
           \/ ((ender[y] = x) /\ (mine[x] \/ (x \in Cancellers)))
    /\ \A x \in Threads, y \in Operations :
           \/ ~((at[x] = y) /\ (pc[x] = "OnExpiration"))
           \/ ((ender[y] = x) /\ (x \in Timers))
    /\ \A x \in Threads, y \in Operations :
           \/ ~((at[x] = y) /\ ((x \in Watchers) \/ (x \in Timers)))
           \/ (mine[x] = (ender[y] = x))
    /\ \A x \in Threads, y \in Operations :
           (~((at[x] = y) /\ mine[x]) \/ (ender[y] = x))

MineBeginsAtTheEnd ==
    \A x \in Threads :
        \/ ~(mine[x] /\ ((x \in Watchers) \/ (x \in Timers)))
        \/ ~(pc[x] \in {"TestOpen", "WatchLock", "TryFirst", "WatchIsDone", "Watch", "TryLast", "ForceIsDone", "ForceLock", "ForceComplete"})

AnsweredUnlessThatIsUnderWay ==
    \A x \in Operations :
        (answers[x] = (IF ((state[x] = "completed") /\ ~(\E y \in Threads : (~(y \in Cancellers) /\ (at[y] = x) /\ (pc[y] \in {"EndTimeout", "CancelTask", "OnComplete"})))) THEN 1 ELSE 0))

ATimeoutIsTakenOnce ==
    /\ \A x \in Threads, y \in Operations :
           (~((x \in Timers) /\ (at[x] = y) /\ ~(pc[x] = "Claim")) \/ (timer[y] = "fired"))
    /\ \A x \in Threads, y \in Threads, z \in Operations :
           \/ ~((x \in Timers) /\ (y \in Timers) /\ (at[x] = z) /\ (at[y] = z) /\ ~(pc[x] = "Claim") /\ ~(pc[y] = "Claim"))
           \/ (x = y)
    /\ \A x \in Threads, y \in Operations :
           (~((x \in Timers) /\ (ender[y] = x)) \/ (timer[y] = "fired"))

ExpiryIsToldLast ==
    /\ \A x \in Threads, y \in Operations :
           \/ ~((x \in Timers) /\ (ender[y] = x))
           \/ (expirations[y] = (IF ((at[x] = y) /\ (pc[x] \in {"EndTimeout", "CancelTask", "OnComplete", "Unlock", "OnExpiration"})) THEN 0 ELSE 1))
    /\ \A x \in Operations :
           \/ ~(\A y \in Threads : (~(y \in Timers) \/ ~(ender[x] = y)))
           \/ (expirations[x] = 0)

ATimeoutBeginsAfterTheWatches ==
    /\ \A x \in Threads, y \in Operations :
           \/ ~((x \in Watchers /\ (OperationOf[x] = y)) /\ (pc[x] \in {"TestOpen", "WatchLock", "TryFirst", "WatchIsDone", "Watch", "TryLast", "ForceIsDone", "ForceComplete", "TailIsDone", "AddToTimer", "Refused"}))
           \/ ((timer[y] = "out") /\ ~started[y])
    /\ \A x \in Threads, y \in Operations :
           \/ ~((x \in Watchers /\ (OperationOf[x] = y)) /\ (pc[x] = "TimeoutStarted"))
           \/ ~started[y]
    /\ \A x \in Threads, y \in Operations :
           \/ ~((x \in Watchers /\ (OperationOf[x] = y)) /\ (pc[x] \in {"ForceComplete", "EndTimeout", "CancelTask", "OnComplete", "Unlock"}))
           \/ ((timer[y] = "out") /\ ~started[y])
    /\ \A x \in Operations :
           \/ ~~(timer[x] = "out")
           \/ (\E y \in Threads : (y \in Watchers /\ (OperationOf[y] = x)))

WhoeverEndsTakesTheTimeoutBack ==
    \A x \in Operations :
        \/ ~(~(state[x] = "pending") /\ (timer[x] = "in"))
        \/ \E y \in Threads :
               /\ (at[y] = x)
               /\ ((pc[y] = "CancelTask") \/ ((pc[y] = "EndTimeout") /\ started[x]))
        \/ \E y \in Threads :
               /\ (y \in Watchers /\ (OperationOf[y] = x))
               /\ (pc[y] \in {"TimeoutStarted", "TailIsDoneAgain", "TailCancel"})

UntilItIsStartedItsAdderLooks ==
    \A x \in Threads, y \in Operations :
        \/ ~((x \in Watchers /\ (OperationOf[x] = y)) /\ (timer[y] = "in") /\ ~started[y])
        \/ (pc[x] = "TimeoutStarted")

TheTailKnowsWhatIsDone ==
    \A x \in Threads, y \in Operations :
        \/ ~((x \in Watchers /\ (OperationOf[x] = y)) /\ (pc[x] \in {"TailCancel"}))
        \/ ~(state[y] = "pending")

WhoeverWaitsHasATimeout ==
    \A x \in Threads, y \in Operations :
        \/ ~((x \in Watchers /\ (OperationOf[x] = y)) /\ (pc[x] \in {"TimeoutStarted", "TailIsDoneAgain", "Count", "Done"}))
        \/ ~(state[y] = "pending")
        \/ closed
        \/ (timer[y] = "in")
        \/ /\ (timer[y] = "fired")
           /\ \E z \in Threads :
                  /\ (z \in Timers)
                  /\ (at[z] = y)
                  /\ (pc[z] \in {"ForceIsDone", "ForceLock", "ForceComplete"})

AnUnusedListIsEmpty ==
    /\ \A x \in Lists, y \in Operations :
           (~(y \in Range(content[x])) \/ (x[2] <= made[x[1]]))
    /\ \A x \in Keys, y \in Lists :
           (~(watchersOf[x] = y) \/ ((y[2] <= made[y[1]]) /\ (y[1] = x)))
    /\ \A x \in Threads, y \in Lists :
           \/ ~(list[x] = y)
           \/ /\ (y[2] <= made[y[1]])
              /\ ~(pc[x] \in {"RemoveKey", "MakeTrue", "FetchWatchers"})

OnlyWhatIsWatchedIsInAList ==
    \A x \in Lists, y \in Operations :
        \/ ~(y \in Range(content[x]))
        \/ \E z \in Threads :
               ((z \in Watchers /\ (OperationOf[z] = y)) /\ ~(pc[z] = "TestOpen"))

WhatIsRemovedIsDone ==
    \A x \in Threads, y \in Operations :
        (~((at[x] = y) /\ (pc[x] = "WalkRemove")) \/ ~(state[y] = "pending"))

WhatIsWatchedIsReachable ==
    \A x \in Threads, y \in Operations, z \in Keys :
        \/ ~((x \in Watchers /\ (OperationOf[x] = y)) /\ (x \in Watchers /\ (\E i \in 1..(next[x] - 1) : KeysOf[OperationOf[x]][i] = z)))
        \/ ~(state[y] = "pending")
        \/ \E u \in Lists :
               /\ (u[1] = z)
               /\ (y \in Range(content[u]))
               /\ \/ (watchersOf[z] = u)
                  \/ (\E v \in Threads : ((v \in Cancellers) /\ (list[v] = u)))

ACancellerComesToAll ==
    /\ \A x \in Threads, y \in Lists :
           \/ ~((x \in Cancellers) /\ (list[x] = y))
           \/ (\A z \in Keys : ~(watchersOf[z] = y))
    /\ \A x \in Threads, y \in Lists, z \in Operations :
           \/ ~((x \in Cancellers) /\ (list[x] = y) /\ (z \in Range(content[y])))
           \/ ~(state[z] = "pending")
           \/ (pc[x] = "Snapshot")
           \/ (z \in Range(todo[x]))
    /\ \A x \in Threads, y \in Operations, z \in Operations :
           \/ ~((x \in Cancellers) /\ (y \in Range(todo[x])) /\ ~~(state[y] = "pending"))
           \/ (pc[x] \in {"CancelOperation", "EndTimeout", "CancelTask"})
    /\ \A x \in Threads, y \in Operations :
           \/ ~((x \in Cancellers) /\ (at[x] = y) /\ (pc[x] \in {"EndTimeout", "CancelTask"}))
           \/ ~(state[y] = "pending")
=============================================================================
