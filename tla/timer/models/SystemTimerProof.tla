-------------------------- MODULE SystemTimerProof --------------------------
(* Made by python -m wheelproof_lab pages proofs: what z3 proves for any number. *)
EXTENDS SystemTimer

EachThreadIsAtAStepOfItsOwn ==
    \A x \in Threads :
        /\ \/ ~(x \in Adders)
           \/ (pc[x] \in {"LockRead", "ReadClock", "Bind", "Insert", "Link", "SetExpiration", "Offer", "Submit", "UnlockRead", "Done"})
        /\ (~(x \in Cancellers) \/ (pc[x] \in {"CancelRemove", "CancelUnbind", "Done"}))
        /\ \/ ~(x \in Advancers)
           \/ (pc[x] \in {"Idle", "AwaitDue", "LockWrite", "Poll", "AdvanceClock", "FlushLock", "FlushEntry", "Insert", "Link", "SetExpiration", "Offer", "Submit", "UnlockWrite"})

EachHasOneOfAKind ==
    /\ (\A x \in (0..6) : (\A y \in (0..6) : (~((now = x) /\ (now = y)) \/ (x = y))))
    /\ \A x \in (0..2), y \in (0..6), z \in (0..6) :
           \/ ~((y = IF x < Len(wheel) THEN wheel[x + 1].clock ELSE Truncate(wheel[1].clock, TickOf(x))) /\ (z = IF x < Len(wheel) THEN wheel[x + 1].clock ELSE Truncate(wheel[1].clock, TickOf(x))))
           \/ (y = z)
    /\ \A x \in ((0..2) \X (0..(WheelSize - 1))), y \in (0..6), z \in (0..6) :
           \/ ~((x \in AllBuckets /\ Key(x) = y) /\ (x \in AllBuckets /\ Key(x) = z))
           \/ (y = z)
    /\ \A x \in Tasks, y \in (0..6), z \in (0..6) :
           (~((deadline[x] = y) /\ (deadline[x] = z)) \/ (y = z))
    /\ \A x \in Threads, y \in Tasks, z \in Tasks :
           \/ ~((x \in (Adders \cup Advancers) /\ (hand[x] = y)) /\ (x \in (Adders \cup Advancers) /\ (hand[x] = z)))
           \/ (y = z)
    /\ \A x \in Threads, y \in ((0..2) \X (0..(WheelSize - 1))) :
           \A z \in ((0..2) \X (0..(WheelSize - 1))) :
               \/ ~((x \in (Adders \cup Advancers) /\ (into[x] = y)) /\ (x \in (Adders \cup Advancers) /\ (into[x] = z)))
               \/ (y = z)
    /\ \A x \in Threads, y \in ((0..2) \X (0..(WheelSize - 1))) :
           \A z \in ((0..2) \X (0..(WheelSize - 1))) :
               \/ ~((x \in Advancers /\ (polled[x] = y)) /\ (x \in Advancers /\ (polled[x] = z)))
               \/ (y = z)

EveryLevelHasAClock ==
    \A x \in (0..2) :
        \E y \in (0..6) :
            (y = IF x < Len(wheel) THEN wheel[x + 1].clock ELSE Truncate(wheel[1].clock, TickOf(x)))

EveryDeadlineCanBeRounded ==
    \A x \in Tasks, y \in (0..2) :
        \E z \in (0..6), u \in (0..6) :
            ((deadline[x] = z) /\ (Truncate(z, TickOf(y)) = u))

TheLockIsHeldInside ==
    /\ \A x \in Threads :
           ((x \in readers) = ((x \in Adders) /\ (pc[x] \in {"ReadClock", "Bind", "Insert", "Link", "SetExpiration", "Offer", "Submit", "UnlockRead"})))
    /\ \A x \in Threads :
           ((writer = x) = ((x \in Advancers) /\ (pc[x] \in {"Poll", "AdvanceClock", "FlushLock", "FlushEntry", "Insert", "Link", "SetExpiration", "Offer", "Submit", "UnlockWrite"})))

AWriterIsAlone ==
    \A x \in Threads, y \in Threads :
        (~(writer = x) \/ (~(y \in readers) /\ (~(writer = y) \/ (x = y))))

WhoeverPutsAnEntryHasIt ==
    /\ \A x \in Threads, y \in Tasks :
           \/ ~(x \in (Adders \cup Advancers) /\ (hand[x] = y))
           \/ /\ (pc[x] \in {"Insert", "Link", "SetExpiration", "Offer", "Submit"})
              /\ (~(x \in Adders) \/ (x \in Adders /\ (Program[x][1] = y)))
    /\ \A x \in Threads, y \in Threads, z \in Tasks :
           \/ ~((x \in (Adders \cup Advancers) /\ (hand[x] = z)) /\ (y \in (Adders \cup Advancers) /\ (hand[y] = z)))
           \/ (x = y)

WhoeverHasABucketLinks ==
    \A x \in Threads, y \in ((0..2) \X (0..(WheelSize - 1))) :
        \/ ~(x \in (Adders \cup Advancers) /\ (into[x] = y))
        \/ (pc[x] \in {"Link", "SetExpiration", "Offer"})

WhoeverFlushesHasABucket ==
    \A x \in Threads, y \in ((0..2) \X (0..(WheelSize - 1))) :
        \/ ~(x \in Advancers /\ (polled[x] = y))
        \/ /\ (x \in Advancers)
           /\ (pc[x] \in {"AdvanceClock", "FlushLock", "FlushEntry", "Insert", "Link", "SetExpiration", "Offer", "Submit"})

AQueuedBucketHasItsKey ==
    \A x \in ((0..2) \X (0..(WheelSize - 1))), y \in (0..6) :
        \/ ~(\E i \in DOMAIN queue : queue[i].bucket = x /\ queue[i].key = y)
        \/ (x \in AllBuckets /\ Key(x) = y)

ATakenBucketHasItsKey ==
    \A x \in Threads, y \in ((0..2) \X (0..(WheelSize - 1))) :
        \/ ~(x \in Advancers /\ (polled[x] = y))
        \/ (\E z \in (0..6) : (y \in AllBuckets /\ Key(y) = z))

NobodyWorksOnAQueuedBucket ==
    /\ \A x \in ((0..2) \X (0..(WheelSize - 1))), y \in (0..6), z \in Threads :
           \/ ~(\E i \in DOMAIN queue : queue[i].bucket = x /\ queue[i].key = y)
           \/ /\ ~(z \in Advancers /\ (polled[z] = x))
              /\ ~((pc[z] = "Offer") /\ (z \in (Adders \cup Advancers) /\ (into[z] = x)))
    /\ \A x \in Threads, y \in Threads, z \in ((0..2) \X (0..(WheelSize - 1))) :
           \/ ~((pc[x] = "Offer") /\ (x \in (Adders \cup Advancers) /\ (into[x] = z)) /\ (pc[y] = "Offer") /\ (y \in (Adders \cup Advancers) /\ (into[y] = z)))
           \/ (x = y)
    /\ \A x \in Threads, y \in Threads, z \in ((0..2) \X (0..(WheelSize - 1))) :
           \/ ~((pc[x] = "Offer") /\ (x \in (Adders \cup Advancers) /\ (into[x] = z)))
           \/ /\ ~(y \in Advancers /\ (polled[y] = z))
              /\ (\E u \in (0..6) : (z \in AllBuckets /\ Key(z) = u))

AKeyMeansQueuedOrInWork ==
    \A x \in ((0..2) \X (0..(WheelSize - 1))), y \in (0..6) :
        \/ ~(x \in AllBuckets /\ Key(x) = y)
        \/ (\E i \in DOMAIN queue : queue[i].bucket = x /\ queue[i].key = y)
        \/ (\E z \in Threads : (z \in Advancers /\ (polled[z] = x)))
        \/ \E z \in Threads :
               ((pc[z] = "Offer") /\ (z \in (Adders \cup Advancers) /\ (into[z] = x)))

ANonEmptyBucketHasAKey ==
    \A x \in ((0..2) \X (0..(WheelSize - 1))), y \in Tasks :
        \/ ~(x \in AllBuckets /\ y \in Range(Content(x)))
        \/ (\E z \in (0..6) : (x \in AllBuckets /\ Key(x) = z))
        \/ \E z \in Threads :
               /\ (pc[z] = "SetExpiration")
               /\ (z \in (Adders \cup Advancers) /\ (into[z] = x))

ATaskIsInOneBucket ==
    /\ \A x \in ((0..2) \X (0..(WheelSize - 1))), y \in ((0..2) \X (0..(WheelSize - 1))) :
           \A z \in Tasks :
               \/ ~((x \in AllBuckets /\ z \in Range(Content(x))) /\ (y \in AllBuckets /\ z \in Range(Content(y))))
               \/ (x = y)
    /\ \A x \in Threads, y \in ((0..2) \X (0..(WheelSize - 1))), z \in Tasks :
           \/ ~((x \in (Adders \cup Advancers) /\ (hand[x] = z)) /\ (y \in AllBuckets /\ z \in Range(Content(y))))
           \/ /\ (x \in (Adders \cup Advancers) /\ (into[x] = y))
              /\ (pc[x] \in {"SetExpiration", "Offer"})

TheClocksAgree ==
    \A x \in (0..2), y \in (0..6) :
        \/ ~(y = IF x < Len(wheel) THEN wheel[x + 1].clock ELSE Truncate(wheel[1].clock, TickOf(x)))
        \/ \A z \in (0..2) :
               \/ ~(z = 0)
               \/ \A u \in (0..6) :
                      \/ ~(u = IF z < Len(wheel) THEN wheel[z + 1].clock ELSE Truncate(wheel[1].clock, TickOf(z)))
                      \/ (Truncate(u, TickOf(x)) = y)

TheClockIsNotAhead ==
    \A x \in (0..6), y \in (0..6) :
        \/ ~((\E z \in (0..2) : ((z = 0) /\ (x = IF z < Len(wheel) THEN wheel[z + 1].clock ELSE Truncate(wheel[1].clock, TickOf(z))))) /\ (now = y))
        \/ (x <= y)

KeysHaveTheirSlot ==
    \A x \in ((0..2) \X (0..(WheelSize - 1))), y \in (0..6), z \in (0..2) :
        \/ ~((x \in AllBuckets /\ Key(x) = y) /\ (x[1] = z))
        \/ ((BucketFor(y, z) = x) /\ (Truncate(y, TickOf(z)) = y))

KeysFitIntoTheInterval ==
    \A x \in ((0..2) \X (0..(WheelSize - 1))), y \in (0..6) :
        \/ ~(x \in AllBuckets /\ Key(x) = y)
        \/ \A z \in (0..2) :
               \/ ~(x[1] = z)
               \/ \A u \in (0..6) :
                      \/ ~(u = IF z < Len(wheel) THEN wheel[z + 1].clock ELSE Truncate(wheel[1].clock, TickOf(z)))
                      \/ (y < u + TickOf(z + 1))

KeysLieAhead ==
    \A x \in ((0..2) \X (0..(WheelSize - 1))), y \in (0..6), z \in (0..6) :
        \/ ~((x \in AllBuckets /\ Key(x) = y) /\ (\E u \in (0..2) : ((u = 0) /\ (z = IF u < Len(wheel) THEN wheel[u + 1].clock ELSE Truncate(wheel[1].clock, TickOf(u))))))
        \/ (z <= y)

EntriesHaveTheirSlot ==
    \A x \in ((0..2) \X (0..(WheelSize - 1))), y \in Tasks :
        \/ ~(x \in AllBuckets /\ y \in Range(Content(x)))
        \/ \A z \in (0..2) :
               \/ ~(x[1] = z)
               \/ (\A u \in (0..6) : (~(deadline[y] = u) \/ (BucketFor(u, z) = x)))

EntriesFitIntoTheInterval ==
    \A x \in ((0..2) \X (0..(WheelSize - 1))), y \in Tasks :
        \/ ~(x \in AllBuckets /\ y \in Range(Content(x)))
        \/ \A z \in (0..2) :
               \/ ~(x[1] = z)
               \/ \A u \in (0..6) :
                      \/ ~(deadline[y] = u)
                      \/ \A v \in (0..6) :
                             \/ ~(v = IF z < Len(wheel) THEN wheel[z + 1].clock ELSE Truncate(wheel[1].clock, TickOf(z)))
                             \/ (u < v + TickOf(z + 1))

EntriesLieAhead ==
    \A x \in ((0..2) \X (0..(WheelSize - 1))), y \in Tasks :
        \/ ~(x \in AllBuckets /\ y \in Range(Content(x)))
        \/ \A z \in (0..2) :
               \/ ~(x[1] = z)
               \/ \A u \in (0..6) :
                      \/ ~(deadline[y] = u)
                      \/ \A v \in (0..6) :
                             \/ ~(\E w \in (0..2) : ((w = 0) /\ (v = IF w < Len(wheel) THEN wheel[w + 1].clock ELSE Truncate(wheel[1].clock, TickOf(w)))))
                             \/ \A w \in (0..6) :
                                    (~(Truncate(u, TickOf(z)) = w) \/ (v <= w))

NewEntriesHaveTheirSlot ==
    \A x \in Threads, y \in Tasks :
        \/ ~(x \in (Adders \cup Advancers) /\ (hand[x] = y))
        \/ \A z \in ((0..2) \X (0..(WheelSize - 1))) :
               \/ ~(x \in (Adders \cup Advancers) /\ (into[x] = z))
               \/ \A u \in (0..2) :
                      \/ ~(z[1] = u)
                      \/ (\A v \in (0..6) : (~(deadline[y] = v) \/ (BucketFor(v, u) = z)))

NewEntriesFitIntoTheInterval ==
    \A x \in Threads, y \in Tasks :
        \/ ~(x \in (Adders \cup Advancers) /\ (hand[x] = y))
        \/ \A z \in ((0..2) \X (0..(WheelSize - 1))) :
               \/ ~(x \in (Adders \cup Advancers) /\ (into[x] = z))
               \/ \A u \in (0..2) :
                      \/ ~(z[1] = u)
                      \/ \A v \in (0..6) :
                             \/ ~(deadline[y] = v)
                             \/ \A w \in (0..6) :
                                    \/ ~(w = IF u < Len(wheel) THEN wheel[u + 1].clock ELSE Truncate(wheel[1].clock, TickOf(u)))
                                    \/ (v < w + TickOf(u + 1))

NewEntriesLieAhead ==
    \A x \in Threads, y \in Tasks :
        \/ ~(x \in (Adders \cup Advancers) /\ (hand[x] = y))
        \/ \A z \in ((0..2) \X (0..(WheelSize - 1))) :
               \/ ~(x \in (Adders \cup Advancers) /\ (into[x] = z))
               \/ \A u \in (0..2) :
                      \/ ~(z[1] = u)
                      \/ \A v \in (0..6) :
                             \/ ~(deadline[y] = v)
                             \/ \A w \in (0..6) :
                                    \/ ~(\E a \in (0..2) : ((a = 0) /\ (w = IF a < Len(wheel) THEN wheel[a + 1].clock ELSE Truncate(wheel[1].clock, TickOf(a)))))
                                    \/ \A a \in (0..6) :
                                           (~(Truncate(v, TickOf(u)) = a) \/ (w <= a))

EntriesOfABucketShareItsKey ==
    \A x \in ((0..2) \X (0..(WheelSize - 1))), y \in Tasks :
        \/ ~(x \in AllBuckets /\ y \in Range(Content(x)))
        \/ \A z \in (0..2) :
               \/ ~(x[1] = z)
               \/ \A u \in (0..6) :
                      \/ ~(deadline[y] = u)
                      \/ \A v \in (0..6) :
                             \/ ~(x \in AllBuckets /\ Key(x) = v)
                             \/ (Truncate(u, TickOf(z)) = v)

ABucketIsDueBeforeItsEntries ==
    \A x \in ((0..2) \X (0..(WheelSize - 1))), y \in Tasks :
        \/ ~(x \in AllBuckets /\ y \in Range(Content(x)))
        \/ \A z \in (0..2) :
               \/ ~(z = 0)
               \/ \A u \in (0..6) :
                      \/ ~(deadline[y] = u)
                      \/ \A v \in (0..6) :
                             \/ ~(x \in AllBuckets /\ Key(x) = v)
                             \/ \A w \in (0..6) :
                                    (~(Truncate(u, TickOf(z)) = w) \/ (v <= w))

NewEntriesShareItsKey ==
    \A x \in Threads, y \in Tasks :
        \/ ~(x \in (Adders \cup Advancers) /\ (hand[x] = y))
        \/ \A z \in ((0..2) \X (0..(WheelSize - 1))) :
               \/ ~(x \in (Adders \cup Advancers) /\ (into[x] = z))
               \/ \A u \in (0..2) :
                      \/ ~(z[1] = u)
                      \/ \A v \in (0..6) :
                             \/ ~(deadline[y] = v)
                             \/ \A w \in (0..6) :
                                    \/ ~(z \in AllBuckets /\ Key(z) = w)
                                    \/ (Truncate(v, TickOf(u)) = w)

WhatIsInHandComesFromTheBucket ==
    \A x \in Threads :
        \/ ~(pc[x] = "Insert")
        \/ \A y \in ((0..2) \X (0..(WheelSize - 1))) :
               \/ ~(x \in Advancers /\ (polled[x] = y))
               \/ \A z \in Tasks :
                      \/ ~((x \in (Adders \cup Advancers) /\ (hand[x] = z)) /\ (state[z] = "waiting"))
                      \/ \A u \in (0..2) :
                             \/ ~(y[1] = u)
                             \/ \A v \in (0..6) :
                                    \/ ~(deadline[z] = v)
                                    \/ \A w \in (0..6) :
                                           \/ ~(y \in AllBuckets /\ Key(y) = w)
                                           \/ (Truncate(v, TickOf(u)) = w)

TheFirstBucketIsTaken ==
    \A x \in Threads, y \in ((0..2) \X (0..(WheelSize - 1))), z \in (0..6) :
        \/ ~((x \in Advancers /\ (polled[x] = y)) /\ (y \in AllBuckets /\ Key(y) = z) /\ (pc[x] = "AdvanceClock"))
        \/ /\ \A u \in ((0..2) \X (0..(WheelSize - 1))), v \in (0..6) :
                  \/ ~(\E i \in DOMAIN queue : queue[i].bucket = u /\ queue[i].key = v)
                  \/ (z <= v)
           /\ (\A u \in (0..6) : (~(now = u) \/ (z <= u)))

TheClockIsAtTheFlushedBucket ==
    \A x \in Threads :
        \/ ~(pc[x] \in {"FlushLock", "FlushEntry", "Insert", "Link", "SetExpiration", "Offer", "Submit"})
        \/ \A y \in ((0..2) \X (0..(WheelSize - 1))) :
               \/ ~(x \in Advancers /\ (polled[x] = y))
               \/ \A z \in (0..6) :
                      \/ ~(y \in AllBuckets /\ Key(y) = z)
                      \/ \A u \in (0..6) :
                             \/ ~(\E v \in (0..2) : ((v = 0) /\ (u = IF v < Len(wheel) THEN wheel[v + 1].clock ELSE Truncate(wheel[1].clock, TickOf(v)))))
                             \/ (z = u)

WhatIsDueInHandIsDue ==
    \A x \in Threads :
        \/ ~(pc[x] = "Submit")
        \/ \A y \in Tasks :
               \/ ~((x \in (Adders \cup Advancers) /\ (hand[x] = y)) /\ (state[y] = "waiting"))
               \/ \A z \in (0..2) :
                      \/ ~(z = 0)
                      \/ \A u \in (0..6) :
                             \/ ~(deadline[y] = u)
                             \/ \A v \in (0..6) :
                                    \/ ~(Truncate(u, TickOf(z)) = v)
                                    \/ \A w \in (0..6) :
                                           \/ ~(w = IF z < Len(wheel) THEN wheel[z + 1].clock ELSE Truncate(wheel[1].clock, TickOf(z)))
                                           \/ (v <= w)

SubmittedOnlyWhenDue ==
    \A x \in Tasks :
        \/ ~(state[x] = "submitted")
        \/ \A y \in (0..2) :
               \/ ~(y = 0)
               \/ \A z \in (0..6) :
                      \/ ~(deadline[x] = z)
                      \/ \A u \in (0..6) :
                             \/ ~(Truncate(z, TickOf(y)) = u)
                             \/ (\A v \in (0..6) : (~(now = v) \/ (u <= v)))

AWaitingTaskIsSomewhere ==
    \A x \in Tasks :
        \/ ~(state[x] = "waiting")
        \/ \E y \in ((0..2) \X (0..(WheelSize - 1))) :
               (y \in AllBuckets /\ x \in Range(Content(y)))
        \/ \E y \in Threads :
               ((y \in Cancellers /\ (Victim[y] = x)) /\ (pc[y] = "CancelUnbind"))
        \/ (\E y \in Threads : (y \in (Adders \cup Advancers) /\ (hand[y] = x)))

WhatIsLinkedIsPlaced ==
    /\ \A x \in Threads, y \in Tasks :
           \/ ~((x \in (Adders \cup Advancers) /\ (hand[x] = y)) /\ (pc[x] \in {"SetExpiration", "Offer"}) /\ (state[y] = "waiting"))
           \/ \E z \in ((0..2) \X (0..(WheelSize - 1))) :
                  (z \in AllBuckets /\ y \in Range(Content(z)))
           \/ \E z \in Threads :
                  ((z \in Cancellers /\ (Victim[z] = y)) /\ (pc[z] = "CancelUnbind"))
    /\ \A x \in Threads, y \in Tasks :
           \/ ~((y \in returned) /\ (x \in (Adders \cup Advancers) /\ (hand[x] = y)))
           \/ (x \in Advancers)
    /\ \A x \in Threads, y \in Tasks :
           \/ ~((x \in Adders /\ (Program[x][1] = y)) /\ (pc[x] \in {"Insert", "Link", "SetExpiration", "Offer", "Submit"}))
           \/ ~(y \in returned)

OwedTasksAreDue ==
    /\ \A x \in Threads, y \in Tasks :
           \/ ~(x \in Advancers /\ (y \in owed[x]))
           \/ ((x \in Advancers) /\ ~(pc[x] = "Idle") /\ (y \in returned))
    /\ \A x \in Threads, y \in Tasks :
           \/ ~((x \in Advancers /\ (y \in owed[x])) /\ (state[y] = "waiting"))
           \/ \A z \in (0..2) :
                  \/ ~(z = 0)
                  \/ \A u \in (0..6) :
                         \/ ~(deadline[y] = u)
                         \/ \A v \in (0..6) :
                                \/ ~(Truncate(u, TickOf(z)) = v)
                                \/ (\A w \in (0..6) : (~(now = w) \/ (v <= w)))

NothingIsOwedAtTheEnd ==
    \A x \in Threads, y \in Tasks :
        \/ ~((pc[x] = "UnlockWrite") /\ (x \in Advancers /\ (y \in owed[x])))
        \/ ~(state[y] = "waiting")
        \/ \E z \in Threads :
               ((z \in Cancellers /\ (Victim[z] = y)) /\ (pc[z] = "CancelUnbind"))
=============================================================================
