----------------------- MODULE MaybeTryCompleteProof -----------------------
(* Made by python -m wheelproof_lab pages proofs: what z3 proves for any number. *)
EXTENDS MaybeTryComplete

EachThreadIsAtAStepOfItsOwn ==
    CASE Discipline = "monitor" ->
          \A x \in Threads :
              /\ \/ ~(x \in Triggers)
                 \/ (pc[x] \in {"MakeTrue", "IsDone", "Lock", "TryComplete", "ForceComplete", "OnComplete", "Unlock", "UnlockAndRaise", "Done"})
              /\ (~(pc[x] = "UnlockAndRaise") \/ (x \in Raising))
              /\ (~(x \in Holders) \/ (pc[x] \in {"Hold", "LetGo", "Done"}))
              /\ \/ ~(x \in Timers)
                 \/ (pc[x] \in {"ForceComplete", "OnComplete", "OnExpiration", "Done"})
      [] Discipline = "try_lock_once" ->
          \A x \in Threads :
              /\ \/ ~(x \in Triggers)
                 \/ (pc[x] \in {"MakeTrue", "IsDone", "TryLock", "TryComplete", "ForceComplete", "OnComplete", "Unlock", "UnlockAndRaise", "Done"})
              /\ (~(pc[x] = "UnlockAndRaise") \/ (x \in Raising))
              /\ (~(x \in Holders) \/ (pc[x] \in {"Hold", "LetGo", "Done"}))
              /\ \/ ~(x \in Timers)
                 \/ (pc[x] \in {"ForceComplete", "OnComplete", "OnExpiration", "Done"})
      [] Discipline = "try_lock_pending" ->
          \A x \in Threads :
              /\ \/ ~(x \in Triggers)
                 \/ (pc[x] \in {"MakeTrue", "IsDone", "TryLock", "SetPending", "ReadPending", "IsDoneAgain", "ClearPending", "TryComplete", "ForceComplete", "OnComplete", "Unlock", "UnlockAndRaise", "Done"})
              /\ (~(pc[x] = "UnlockAndRaise") \/ (x \in Raising))
              /\ (~(x \in Holders) \/ (pc[x] \in {"Hold", "LetGo", "Done"}))
              /\ \/ ~(x \in Timers)
                 \/ (pc[x] \in {"ForceComplete", "OnComplete", "OnExpiration", "Done"})
      [] Discipline = "blocking" ->
          \A x \in Threads :
              /\ \/ ~(x \in Triggers)
                 \/ (pc[x] \in {"MakeTrue", "IsDone", "Lock", "IsDoneUnderLock", "TryComplete", "ForceComplete", "OnComplete", "Unlock", "UnlockAndRaise", "Done"})
              /\ (~(pc[x] = "UnlockAndRaise") \/ (x \in Raising))
              /\ (~(x \in Holders) \/ (pc[x] \in {"Hold", "LetGo", "Done"}))
              /\ \/ ~(x \in Timers)
                 \/ (pc[x] \in {"ForceComplete", "OnComplete", "OnExpiration", "Done"})
      [] Discipline = "exclusive" ->
          \A x \in Threads :
              /\ \/ ~(x \in Triggers)
                 \/ (pc[x] \in {"MakeTrue", "IsDone", "Lock", "IsDoneUnderLock", "TryComplete", "ForceIsDone", "ForceComplete", "OnComplete", "Unlock", "UnlockAndRaise", "Done"})
              /\ (~(pc[x] = "UnlockAndRaise") \/ (x \in Raising))
              /\ (~(x \in Holders) \/ (pc[x] \in {"Hold", "LetGo", "Done"}))
              /\ \/ ~(x \in Timers)
                 \/ (pc[x] \in {"ForceComplete", "OnComplete", "OnExpiration", "Done", "ForceIsDone", "ForceLock", "Unlock"})

TheLockHasOneHolder ==
    (\A x \in Threads : (\A y \in Threads : (~((lock = x) /\ (lock = y)) \/ (x = y))))

TheLockIsHeldInside ==
    CASE Discipline = "monitor" \/ Discipline = "try_lock_once" ->
          \A x \in Threads :
              ((lock = x) = (((x \in Triggers) /\ (pc[x] \in {"TryComplete", "ForceComplete", "OnComplete", "Unlock", "UnlockAndRaise"})) \/ ((x \in Holders) /\ (pc[x] = "LetGo")) \/ FALSE))
      [] Discipline = "try_lock_pending" ->
          \A x \in Threads :
              ((lock = x) = (((x \in Triggers) /\ (pc[x] \in {"ClearPending", "TryComplete", "ForceComplete", "OnComplete", "Unlock", "UnlockAndRaise"})) \/ ((x \in Holders) /\ (pc[x] = "LetGo")) \/ FALSE))
      [] Discipline = "blocking" ->
          \A x \in Threads :
              ((lock = x) = (((x \in Triggers) /\ (pc[x] \in {"IsDoneUnderLock", "TryComplete", "ForceComplete", "OnComplete", "Unlock", "UnlockAndRaise"})) \/ ((x \in Holders) /\ (pc[x] = "LetGo")) \/ FALSE))
      [] Discipline = "exclusive" ->
          \A x \in Threads :
              ((lock = x) = (((x \in Triggers) /\ (pc[x] \in {"IsDoneUnderLock", "TryComplete", "ForceIsDone", "ForceComplete", "OnComplete", "Unlock", "UnlockAndRaise"})) \/ ((x \in Holders) /\ (pc[x] = "LetGo")) \/ ((x \in Timers) /\ (pc[x] \in {"ForceComplete", "OnComplete", "Unlock"}))))

OneThreadCompletes ==
    (\A x \in Threads : (\A y \in Threads : (~((ender = x) /\ (ender = y)) \/ (x = y))))

DoneMeansCompletedByAThread ==
    ((state = "completed") = (\E x \in Threads : (ender = x)))

WhoeverAnswersCompletedIt ==
    (\A x \in Threads : (~(pc[x] \in {"OnComplete", "OnExpiration"}) \/ (ender = x)))

TriggersTellNoExpiry ==
    (\A x \in Threads : (~(pc[x] = "OnExpiration") \/ (x \in Timers)))

AnsweredUnlessThatIsUnderWay ==
    (answers = (IF ((state = "completed") /\ ~(\E x \in Threads : (pc[x] = "OnComplete"))) THEN 1 ELSE 0))

ExpiryIsToldLast ==
    \A x \in Threads :
        \/ ~((x \in Timers) /\ (ender = x))
        \/ /\ (pc[x] \in {"OnComplete", "Unlock", "OnExpiration", "Done"})
           /\ (expirations = (IF (pc[x] = "Done") THEN 1 ELSE 0))

NoOtherExpiry ==
    (~~(\E x \in Threads : ((x \in Timers) /\ (ender = x))) \/ (expirations = 0))

OwedIsLookedAt ==
    \A x \in Threads :
        \/ ~(x \in owed)
        \/ /\ (x \in Triggers)
           /\ \/ (state = "completed")
              \/ (pc[x] \in {"IsDone", "Lock", "IsDoneUnderLock", "TryComplete"})

PendingIsWatched ==
    \/ ~pending
    \/ (state = "completed")
    \/ \E x \in Threads :
           \/ (pc[x] \in {"IsDone", "TryLock", "ClearPending", "TryComplete"})
           \/ ((pc[x] = "ForceComplete") /\ (x \in Triggers))
           \/ ((pc[x] = "IsDoneAgain") /\ (x \in Triggers /\ retry[x]))
           \/ ((pc[x] \in {"Unlock", "ReadPending"}) /\ pending)
           \/ ((pc[x] = "SetPending") /\ ~pending)

OwedIsWatched ==
    \A x \in Threads :
        \/ ~(x \in owed)
        \/ /\ \/ (state = "completed")
              \/ \E y \in Threads :
                     \/ (pc[y] \in {"IsDone", "TryLock", "ClearPending", "TryComplete"})
                     \/ ((pc[y] = "ForceComplete") /\ (y \in Triggers))
                     \/ ((pc[y] = "IsDoneAgain") /\ (y \in Triggers /\ retry[y]))
                     \/ ((pc[y] \in {"Unlock", "ReadPending"}) /\ pending)
                     \/ ((pc[y] = "SetPending") /\ ~pending)
           /\ (x \in Triggers)
=============================================================================
