-------------------------- MODULE BufferPoolProof --------------------------
(* Made by python -m wheelproof_lab pages proofs: what z3 proves for any number. *)
EXTENDS BufferPool

RECURSIVE SumOf(_, _)
SumOf(part(_), elements) ==
    IF elements = {}
    THEN 0
    ELSE LET one == CHOOSE element \in elements : TRUE
         IN  part(one) + SumOf(part, elements \ {one})

EachThreadIsAtAStepOfItsOwn ==
    \A x \in Threads :
        /\ \/ ~(x \in Clients)
           \/ (pc[x] \in {"ReadClock", "Lock", "Await", "Asleep", "Relock", "EndWait", "Make", "Refund", "Deallocate", "Signal", "Unlock", "Done"})
        /\ (~(x \in Closers) \/ (pc[x] \in {"CloseLock", "CloseSignal", "Unlock", "Done"}))
        /\ (~(x \in Interrupters) \/ (pc[x] \in {"Interrupt", "Done"}))

TheLockHasOneHolder ==
    (\A x \in Threads : (\A y \in Threads : (~((lock = x) /\ (lock = y)) \/ (x = y))))

TheLockIsHeldInside ==
    \A x \in Threads :
        ((lock = x) = (pc[x] \in {"Await", "EndWait", "Signal", "CloseSignal", "Unlock"}))

OnlyThoseWhoWaitAreInTheQueue ==
    \A x \in Threads :
        ((x \in Range(waiters)) = (pc[x] \in {"Await", "Asleep", "Relock", "EndWait"}))

OnlyTheQueueIsOrdered ==
    \A x \in Threads, y \in Threads :
        \/ ~(\E i, j \in DOMAIN waiters : i < j /\ waiters[i] = x /\ waiters[j] = y)
        \/ /\ (x \in Range(waiters))
           /\ (y \in Range(waiters))
           /\ ~(\E i, j \in DOMAIN waiters : i < j /\ waiters[i] = y /\ waiters[j] = x)

OneOfTwoIsAhead ==
    \A x \in Threads, y \in Threads :
        \/ ~((x \in Range(waiters)) /\ (y \in Range(waiters)))
        \/ (x = y)
        \/ (\E i, j \in DOMAIN waiters : i < j /\ waiters[i] = x /\ waiters[j] = y)
        \/ (\E i, j \in DOMAIN waiters : i < j /\ waiters[i] = y /\ waiters[j] = x)

AheadOfThoseBehind ==
    \A x \in Threads, y \in Threads, z \in Threads :
        \/ ~((\E i, j \in DOMAIN waiters : i < j /\ waiters[i] = x /\ waiters[j] = y) /\ (\E i, j \in DOMAIN waiters : i < j /\ waiters[i] = y /\ waiters[j] = z))
        \/ (\E i, j \in DOMAIN waiters : i < j /\ waiters[i] = x /\ waiters[j] = z)

NothingIsNegative ==
    /\ (nonPooled >= 0)
    /\ (free >= 0)
    /\ \A x \in Threads :
           /\ ((IF x \in Clients THEN held[x] ELSE 0) >= 0)
           /\ ((IF x \in Clients THEN accumulated[x] ELSE 0) >= 0)

SizesAreInBounds ==
    \A x \in Threads :
        \/ ~(x \in Clients)
        \/ /\ (0 < (IF x \in Clients THEN (Size(x)) ELSE 0))
           /\ (Total >= (IF x \in Clients THEN (Size(x)) ELSE 0))
           /\ ((IF x \in Clients THEN accumulated[x] ELSE 0) < (IF x \in Clients THEN (Size(x)) ELSE 0))

EveryByteIsSomewhere ==
    ((((nonPooled + (free * Poolable)) + SumOf(LAMBDA x : (IF x \in Clients THEN held[x] ELSE 0), Threads)) + SumOf(LAMBDA x : (IF x \in Clients THEN accumulated[x] ELSE 0), Threads)) = Total)

OnlyTheFirstHasAPart ==
    \A x \in Threads :
        \/ (0 >= (IF x \in Clients THEN accumulated[x] ELSE 0))
        \/ /\ (x \in Range(waiters))
           /\ \A y \in Threads :
                  \/ ~(y \in Range(waiters))
                  \/ (y = x)
                  \/ (\E i, j \in DOMAIN waiters : i < j /\ waiters[i] = x /\ waiters[j] = y)

WhoeverUsesMemoryHoldsIt ==
    \A x \in Threads :
        /\ ((0 < (IF x \in Clients THEN held[x] ELSE 0)) = ((x \in Clients) /\ ((pc[x] \in {"Make", "Refund", "Deallocate"}) \/ ~((IF x \in (Clients \cup Closers) THEN then[x] ELSE "End") = "End"))))
        /\ \/ ((IF x \in (Clients \cup Closers) THEN then[x] ELSE "End") = "End")
           \/ ((x \in Clients) /\ (pc[x] \in {"Signal", "Unlock"}))

OnlyWhoeverWaitsSleeps ==
    (\A x \in Threads : (~(x \in asleep) \/ (pc[x] = "Asleep")))

WhoeverCouldBeServedIsAboutToBeTold ==
    \A x \in Threads :
        \/ ~((x \in Range(waiters)) /\ (\A y \in Threads : (~(y \in Range(waiters)) \/ (y = x) \/ (\E i, j \in DOMAIN waiters : i < j /\ waiters[i] = x /\ waiters[j] = y))) /\ ((nonPooled + (free * Poolable)) >= ((IF x \in Clients THEN (Size(x)) ELSE 0) - (IF x \in Clients THEN accumulated[x] ELSE 0))) /\ ((x \in asleep) \/ (pc[x] = "Await")))
        \/ (\E y \in Threads : (pc[y] = "Signal"))

OnlyCloseTells ==
    \A x \in Threads, y \in Threads :
        \/ ~(x \in Closers /\ (\E i \in 1..called[x] \cap DOMAIN waiters : waiters[i] = y))
        \/ ((x \in Closers) /\ ~(pc[x] = "CloseLock"))

CloseIsAboutToTellWhoeverSleeps ==
    \A x \in Threads :
        \/ ~(closed /\ ((x \in asleep) \/ (pc[x] = "Await")))
        \/ /\ (x \in asleep)
           /\ \E y \in Threads :
                  /\ (pc[y] = "CloseSignal")
                  /\ ~(y \in Closers /\ (\E i \in 1..called[y] \cap DOMAIN waiters : waiters[i] = x))

CloseBeganByClosing ==
    (\A x \in Threads : (~(pc[x] = "CloseSignal") \/ closed))

TheDeadlineStays ==
    \A x \in Threads :
        \/ ~(pc[x] \in {"Lock", "Await", "Asleep", "Relock", "EndWait"})
        \/ ~(x \in Clients)
        \/ ((IF x \in Clients THEN deadline[x] ELSE 0) = ((IF x \in Clients THEN asked[x] ELSE 0) + (IF x \in Clients THEN Limit[x] ELSE 0)))
=============================================================================
