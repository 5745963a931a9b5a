----------------------------- MODULE LockOrder -----------------------------
(***************************************************************************)
(* Which locks threads hold and wait for in and around the purgatory: the  *)
(* locks of operations, shards and lists, and those of its users, which a  *)
(* thread may hold when it calls, and which predicates and callbacks take. *)
(*                                                                         *)
(* Source.       standard 2.4, 2.6, 2.8, 2.12; KAFKA-2253, 3994, 4399,     *)
(*               5970, 6042, 7697, 8334.                                   *)
(* Kafka.        DelayedOperation.lock, lockOpt; Watchers, WatcherList,    *)
(*               removeWatchersLock; GroupMetadata, stateLock of the       *)
(*               transaction coordinator, leaderIsrUpdateLock.             *)
(* Abstraction.  A thread is the sequence of its steps.  What is done      *)
(*               under the locks is left out, but that an operation is     *)
(*               found only once it is watched.                            *)
(* Atomicity.    One step for each acquisition and release of a lock, each *)
(*               watch and each search; one for a writer that begins to    *)
(*               wait.                                                     *)
(* The locks.    Monitors and locks have one holder.  A read-write lock    *)
(*               prefers writers: a new reader waits while a writer waits. *)
(*               Whoever holds a lock may take it again, and a reader the  *)
(*               read side.                                                *)
(* Steps.        [do |-> "lock", of |-> L], and "unlock", "read",          *)
(*               "unread", "write", "unwrite"; "try", which passes over    *)
(*               its `skip` following steps if it fails; "watch" of an     *)
(*               operation, and "find", which passes over its `skip`       *)
(*               following steps as long as nobody has watched it.         *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    Threads,        \* the threads
    Program         \* thread -> the sequence of its steps

VARIABLES
    holders,        \* lock -> its holder's name, once for each time that it is held
    reading,        \* lock -> thread -> how often it holds the read side
    queued,         \* the writers that wait: the set of [of, by]
    watched,        \* the operations that a search finds
    pc              \* thread -> the place in its program

vars == <<holders, reading, queued, watched, pc>>

\* Every lock of every program.
Locks == UNION {{Program[t][i].of : i \in DOMAIN Program[t]} : t \in Threads}

Init ==
    /\ holders = [l \in Locks |-> <<>>]
    /\ reading = [l \in Locks |-> [t \in Threads |-> 0]]
    /\ queued = {}
    /\ watched = {}
    /\ pc = [t \in Threads |-> 1]

Ended(t) == pc[t] > Len(Program[t])

Now(t, do) == ~Ended(t) /\ Program[t][pc[t]].do = do

Of(t) == Program[t][pc[t]].of

Go(t, steps) == pc' = [pc EXCEPT ![t] = @ + steps]

\* Free, or held by t itself.
Free(l, t) == \A i \in DOMAIN holders[l] : holders[l][i] = t

ReadByOthers(l, t) == \E u \in Threads \ {t} : reading[l][u] > 0

Acquire(t, l) == holders' = [holders EXCEPT ![l] = Append(@, t)]

Release(l) == holders' = [holders EXCEPT ![l] = Tail(@)]

-----------------------------------------------------------------------------

Lock(t) ==
    /\ Now(t, "lock")
    /\ Free(Of(t), t)
    /\ Acquire(t, Of(t))
    /\ Go(t, 1)
    /\ UNCHANGED <<reading, queued, watched>>

TryLock(t) ==
    /\ Now(t, "try")
    /\ IF Free(Of(t), t)
       THEN Acquire(t, Of(t)) /\ Go(t, 1)
       ELSE UNCHANGED holders /\ Go(t, 1 + Program[t][pc[t]].skip)
    /\ UNCHANGED <<reading, queued, watched>>

Unlock(t) ==
    /\ Now(t, "unlock") \/ Now(t, "unwrite")
    /\ Release(Of(t))
    /\ Go(t, 1)
    /\ UNCHANGED <<reading, queued, watched>>

LockRead(t) ==
    LET l == Of(t) IN
    /\ Now(t, "read")
    /\ Free(l, t)
    /\ reading[l][t] = 0 => \A w \in queued : w.of # l
    /\ reading' = [reading EXCEPT ![l][t] = @ + 1]
    /\ Go(t, 1)
    /\ UNCHANGED <<holders, queued, watched>>

UnlockRead(t) ==
    /\ Now(t, "unread")
    /\ reading' = [reading EXCEPT ![Of(t)][t] = @ - 1]
    /\ Go(t, 1)
    /\ UNCHANGED <<holders, queued, watched>>

LockWrite(t) ==
    LET l == Of(t) IN
    /\ Now(t, "write")
    /\ Free(l, t)
    /\ ~ReadByOthers(l, t)
    /\ Acquire(t, l)
    /\ queued' = queued \ {[of |-> l, by |-> t]}
    /\ Go(t, 1)
    /\ UNCHANGED <<reading, watched>>

QueueForWrite(t) ==
    LET l == Of(t) IN
    /\ Now(t, "write")
    /\ ~Free(l, t) \/ ReadByOthers(l, t)
    /\ [of |-> l, by |-> t] \notin queued
    /\ queued' = queued \cup {[of |-> l, by |-> t]}
    /\ UNCHANGED <<holders, reading, watched, pc>>

Watch(t) ==
    /\ Now(t, "watch")
    /\ watched' = watched \cup {Of(t)}
    /\ Go(t, 1)
    /\ UNCHANGED <<holders, reading, queued>>

Find(t) ==
    /\ Now(t, "find")
    /\ Go(t, IF Of(t) \in watched THEN 1 ELSE 1 + Program[t][pc[t]].skip)
    /\ UNCHANGED <<holders, reading, queued, watched>>

Terminated ==
    /\ \A t \in Threads : Ended(t)
    /\ UNCHANGED vars

Step(t) ==
    \/ Lock(t) \/ TryLock(t) \/ Unlock(t) \/ LockRead(t) \/ UnlockRead(t) \/ LockWrite(t)
    \/ QueueForWrite(t) \/ Watch(t) \/ Find(t)

Next ==
    \/ \E t \in Threads : Step(t)
    \/ Terminated

\* Without a deadlock every thread ends: programs have no loops.
Spec == Init /\ [][Next]_vars /\ \A t \in Threads : WF_vars(Step(t))

-----------------------------------------------------------------------------
(* Invariants; that there is no deadlock is what TLC looks for by itself *)

TypeOK ==
    /\ \A l \in Locks : holders[l] \in Seq(Threads) /\ reading[l] \in [Threads -> Nat]
    /\ queued \subseteq [of : Locks, by : Threads]
    /\ watched \subseteq Locks
    /\ \A t \in Threads : pc[t] \in 1..(Len(Program[t]) + 1)

MutualExclusion ==
    \A l \in Locks : \A t, u \in Threads :
        holders[l] # <<>> /\ Head(holders[l]) = t => Free(l, t) /\ (u = t \/ reading[l][u] = 0)

NothingIsHeldInTheEnd ==
    (\A t \in Threads : Ended(t)) =>
        queued = {} /\ \A l \in Locks : holders[l] = <<>> /\ \A t \in Threads : reading[l][t] = 0

(* Action properties *)

WhoeverQueuesHasToWait ==
    [][\A w \in queued' \ queued : ~Free(w.of, w.by) \/ ReadByOthers(w.of, w.by)]_vars

\* Writers are preferred, but to those who read already.
NobodyBeginsToReadBeforeAWriter ==
    [][\A w \in queued, t \in Threads : reading[w.of][t] = 0 => reading'[w.of][t] = 0]_vars

(* Liveness *)

EverybodyEnds == \A t \in Threads : <>Ended(t)
=============================================================================
