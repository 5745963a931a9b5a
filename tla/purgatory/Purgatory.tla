----------------------------- MODULE Purgatory -----------------------------
(***************************************************************************)
(* The purgatory: watch lists by key, triggers that walk them, time-outs,  *)
(* cancel_for_key, purging, shutdown.                                      *)
(*                                                                         *)
(* Source.       standard 2.1 - 2.11, 6.4; KAFKA-2160, 2253, 19312.        *)
(* Kafka.        DelayedOperationPurgatory: tryCompleteElseWatch,          *)
(*               safeTryCompleteOrElse, checkAndComplete, cancelForKey,    *)
(*               watchForOperation, removeKeyIfEmpty, advanceClock         *)
(*               (ExpiredOperationReaper), shutdown; Watchers: watch,      *)
(*               tryCompleteWatched, cancel, purgeCompleted;               *)
(*               estimatedTotalOperations, purgeInterval.                  *)
(* Abstraction.  A watch list is a sequence of operations with an identity *)
(*               of its own.  The timer is one state an operation; its     *)
(*               thread takes whichever operation is in it.  What else a   *)
(*               thread holds around its call is in LockOrder; what else   *)
(*               there is in the way of attempts, in MaybeTryComplete.     *)
(* Atomicity.    One step for each hold of a shard's lock and of a list's, *)
(*               together with what is done there: these locks are taken   *)
(*               for a moment, and nothing else is waited for under them.  *)
(*               One step for each acquisition and release of an           *)
(*               operation's lock, each access of its state, each test of  *)
(*               the predicate, each callback, each access of the timer    *)
(*               and of the estimate.  A lock that its thread holds        *)
(*               already is not taken again.                               *)
(* Disciplines.  "blocking" and "exclusive", as in MaybeTryComplete; both  *)
(*               hold the operation's lock from the first attempt to the   *)
(*               last, across the watches.                                 *)
(* Faults.       The predicate and the callbacks of an operation in        *)
(*               Raising may raise at any call, and the timer may refuse   *)
(*               it.  Who has raised gives back the operation's lock and   *)
(*               goes on as the code does: a trigger to the next           *)
(*               operation, the timer's thread to the next time-out.  A    *)
(*               watcher gives the operation up and takes it out of its    *)
(*               lists, the last key first; the code begins with the first.*)
(* Fairness.     Weak, for each thread, and strong for taking an           *)
(*               operation's lock.  Nobody need trigger, but who begins    *)
(*               goes on; operations need not expire.  A purger purges     *)
(*               again and again.                                          *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences

CONSTANTS
    Discipline,     \* "blocking" or "exclusive"
    Operations,     \* the delayed operations
    Keys,           \* what they are watched under
    KeysOf,         \* operation -> the sequence of its keys
    Watchers,       \* threads that call try_complete_else_watch
    OperationOf,    \* watcher -> its operation
    Triggers,       \* threads that make something happen and call check_and_complete
    Makes,          \* trigger -> the operation whose predicate holds from then on, or None
    Cancellers,     \* threads that call cancel_for_key
    KeyOf,          \* trigger or canceller -> its key
    Timers,         \* the thread that runs what has expired: one at most
    Purgers,        \* the thread that purges, as the reaper does: one at most
    PurgeInterval,  \* they do when more operations than that may be done and still watched
    Closers,        \* threads that call shutdown
    Raising,        \* the operations that may raise wherever they are called
    None            \* nobody, nothing

ASSUME Discipline \in {"blocking", "exclusive"}
ASSUME KeysOf \in [Operations -> Seq(Keys)]
ASSUME OperationOf \in [Watchers -> Operations]
ASSUME Makes \in [Triggers -> Operations \cup {None}]
ASSUME KeyOf \in [Triggers \cup Cancellers -> Keys]
ASSUME PurgeInterval \in Nat
ASSUME Raising \subseteq Operations
ASSUME Cardinality(Timers) <= 1
ASSUME Cardinality(Purgers) <= 1

VARIABLES
    watchersOf,     \* key -> its watch list in the shard's map
    made,           \* key -> how many lists it has had
    content,        \* list -> the operations in it, in the order of their watches
    lock,           \* operation -> the thread that holds its lock
    state,          \* operation -> "pending", "completed" or "cancelled"
    timer,          \* operation -> "out" of the timer, "in" it, or "fired"
    started,        \* operation -> whether its adder has said that it is in the timer
    estimated,      \* the estimate of how many operations are watched
    closed,         \* whether the purgatory has been shut down
    holds,          \* the operations whose predicate holds
    answers,        \* operation -> how often on_complete has run
    expirations,    \* operation -> how often on_expiration has run
    pc,             \* thread -> its next step
    at,             \* thread -> the operation that it works on
    list,           \* thread -> the watch list that it works on
    todo,           \* thread -> what is left of the operations that it found there
    next,           \* watcher -> the place of its next key
    mine,           \* thread -> whether it has completed the operation that it works on
    lists,          \* purger -> the lists that it has not purged yet
    doomed,         \* purger -> what it found done in the list that it works on
    reading,        \* purger -> the estimate, as it has read it
    live,           \* purger -> the pending operations that it has come across
    ender           \* history: operation -> the thread that completed or cancelled it

shared == <<watchersOf, made, content, lock, state, timer, started, estimated, closed>>
world == <<holds, answers, expirations>>
registers == <<at, list, todo, next, mine, lists, doomed, reading, live>>
vars == <<shared, world, pc, registers, ender>>

Threads == Watchers \cup Triggers \cup Cancellers \cup Timers \cup Purgers \cup Closers

\* Each key can have as many lists as there are watches under it.
Lists == Keys \X (1..Cardinality(Operations))

KeyOfList(l) == l[1]

Range(sequence) == {sequence[i] : i \in DOMAIN sequence}

Go(t, label) == pc' = [pc EXCEPT ![t] = label]

Done(op) == state[op] # "pending"

NumDelayed == Cardinality({op \in Operations : timer[op] = "in"})

ForceStart == IF Discipline = "exclusive" THEN "ForceIsDone" ELSE "ForceComplete"

Init ==
    /\ watchersOf = [k \in Keys |-> None]
    /\ made = [k \in Keys |-> 0]
    /\ content = [l \in Lists |-> <<>>]
    /\ lock = [op \in Operations |-> None]
    /\ state = [op \in Operations |-> "pending"]
    /\ timer = [op \in Operations |-> "out"]
    /\ started = [op \in Operations |-> FALSE]
    /\ estimated = 0
    /\ closed = FALSE
    /\ holds = {}
    /\ answers = [op \in Operations |-> 0]
    /\ expirations = [op \in Operations |-> 0]
    /\ pc = [t \in Threads |->
            CASE t \in Watchers -> "TestOpen"
              [] t \in Triggers -> "MakeTrue"
              [] t \in Cancellers -> "RemoveKey"
              [] t \in Timers -> "Claim"
              [] t \in Purgers -> "PurgeReadEstimate"
              [] t \in Closers -> "Shutdown"]
    /\ at = [t \in Threads |-> IF t \in Watchers THEN OperationOf[t] ELSE None]
    /\ list = [t \in Threads |-> None]
    /\ todo = [t \in Threads |-> <<>>]
    /\ next = [w \in Watchers |-> 1]
    /\ mine = [t \in Threads |-> FALSE]
    /\ lists = [p \in Purgers |-> <<>>]
    /\ doomed = [p \in Purgers |-> <<>>]
    /\ reading = [p \in Purgers |-> 0]
    /\ live = [p \in Purgers |-> {}]
    /\ ender = [op \in Operations |-> None]

-----------------------------------------------------------------------------
(* Walks over a list: of a trigger, a canceller, a purger *)

FirstStep(t) ==
    CASE t \in Triggers -> "WalkIsDone"
      [] t \in Cancellers -> "CancelOperation"
      [] t \in Purgers -> "PurgeIsDone"

LastStep(t) ==
    CASE t \in Triggers -> "TestEmpty"
      [] t \in Cancellers -> "Done"
      [] t \in Purgers -> "PurgeRemove"

WalkOver(t, operations) ==
    /\ todo' = [todo EXCEPT ![t] = operations]
    /\ at' = [at EXCEPT ![t] = IF operations = <<>> THEN None ELSE Head(operations)]
    /\ mine' = [mine EXCEPT ![t] = FALSE]
    /\ Go(t, IF operations = <<>> THEN LastStep(t) ELSE FirstStep(t))

WalkOn(t) == WalkOver(t, Tail(todo[t]))

\* The list's lock is held to copy it.
Snapshot(t) ==
    /\ pc[t] = "Snapshot"
    /\ WalkOver(t, content[list[t]])
    /\ UNCHANGED <<shared, world, list, next, lists, doomed, reading, live, ender>>

RemoveFrom(l, op) == content' = [content EXCEPT ![l] = SelectSeq(@, LAMBDA o : o # op)]

-----------------------------------------------------------------------------
(* Attempts: try_complete and force_complete (2.1 - 2.3) *)

\* What a thread does that gets FALSE without the lock: only the timer's comes here.
Refused(t) == IF lock[at[t]] = t THEN "Unlock" ELSE "Claim"

\* The state is read in many places.
IsDone(t) ==
    LET op == at[t] IN
    /\ \/ /\ pc[t] = "WatchIsDone"
          /\ Go(t, IF Done(op) THEN "TryLast" ELSE "Watch")
       \/ /\ pc[t] = "TailIsDone"
          /\ Go(t, IF Done(op) THEN "Count" ELSE "AddToTimer")
       \/ /\ pc[t] = "TailIsDoneAgain"
          /\ Go(t, IF Done(op) THEN "TailCancel" ELSE "Count")
       \/ /\ pc[t] = "WalkIsDone"
          /\ Go(t, IF Done(op) THEN "WalkRemove" ELSE "Lock")
       \/ /\ pc[t] = "IsDoneUnderLock"
          /\ Go(t, IF Done(op) THEN "Unlock" ELSE "TryComplete")
       \/ /\ pc[t] = "ForceIsDone"
          /\ Go(t, IF Done(op) THEN Refused(t)
                   ELSE IF lock[op] = t THEN "ForceComplete" ELSE "ForceLock")
    /\ UNCHANGED <<shared, world, registers, ender>>

Lock(t) ==
    /\ pc[t] \in {"WatchLock", "Lock", "ForceLock"}
    /\ lock[at[t]] = None
    /\ lock' = [lock EXCEPT ![at[t]] = t]
    /\ Go(t, CASE pc[t] = "WatchLock" -> "TryFirst"
               [] pc[t] = "Lock" -> "IsDoneUnderLock"
               [] pc[t] = "ForceLock" -> "ForceComplete")
    /\ UNCHANGED <<watchersOf, made, content, state, timer, started, estimated, closed, world,
                   registers, ender>>

\* The first attempt of a watcher, its last one, or that of a trigger.
TryComplete(t) ==
    /\ pc[t] \in {"TryFirst", "TryLast", "TryComplete"}
    /\ Go(t, IF at[t] \in holds THEN ForceStart
             ELSE IF pc[t] = "TryFirst" THEN "WatchIsDone" ELSE "Unlock")
    /\ UNCHANGED <<shared, world, registers, ender>>

\* The compare-and-set decides.
ForceComplete(t) ==
    LET op == at[t] IN
    /\ pc[t] = "ForceComplete"
    /\ IF Done(op)
       THEN /\ Go(t, Refused(t))
            /\ UNCHANGED <<state, mine, ender>>
       ELSE /\ state' = [state EXCEPT ![op] = "completed"]
            /\ mine' = [mine EXCEPT ![t] = TRUE]
            /\ ender' = [ender EXCEPT ![op] = t]
            /\ Go(t, "EndTimeout")
    /\ UNCHANGED <<watchersOf, made, content, lock, timer, started, estimated, closed, world, at,
                   list, todo, next, lists, doomed, reading, live>>

\* Where a thread goes that has taken the time-out back, or left that to its adder.
TimeoutEnded(t) ==
    IF t \in Cancellers
    THEN WalkOn(t)
    ELSE /\ Go(t, IF pc[t] = "TailCancel" THEN "Count" ELSE "OnComplete")
         /\ UNCHANGED <<at, todo, mine>>

\* Who comes before the adder has said that it has added leaves the time-out to it.
EndTimeout(t) ==
    /\ pc[t] = "EndTimeout"
    /\ IF started[at[t]]
       THEN /\ Go(t, "CancelTask")
            /\ UNCHANGED <<at, todo, mine>>
       ELSE TimeoutEnded(t)
    /\ UNCHANGED <<shared, world, list, next, lists, doomed, reading, live, ender>>

CancelTask(t) ==
    /\ pc[t] \in {"CancelTask", "TailCancel"}
    /\ timer' = [timer EXCEPT ![at[t]] = IF @ = "in" THEN "out" ELSE @]
    /\ TimeoutEnded(t)
    /\ UNCHANGED <<watchersOf, made, content, lock, state, started, estimated, closed, world,
                   list, next, lists, doomed, reading, live, ender>>

OnComplete(t) ==
    LET op == at[t] IN
    /\ pc[t] = "OnComplete"
    /\ answers' = [answers EXCEPT ![op] = @ + 1]
    /\ Go(t, IF lock[op] = t THEN "Unlock" ELSE "OnExpiration")
    /\ UNCHANGED <<shared, holds, expirations, registers, ender>>

Unlock(t) ==
    /\ pc[t] = "Unlock"
    /\ lock' = [lock EXCEPT ![at[t]] = None]
    /\ IF t \in Triggers /\ ~mine[t]
       THEN WalkOn(t)
       ELSE /\ Go(t, CASE t \in Watchers ->
                            IF ~mine[t]
                            THEN "TailIsDone"
                            ELSE IF next[t] > 1 THEN "Count" ELSE "Done"
                       [] t \in Triggers -> "WalkRemove"
                       [] t \in Timers -> IF mine[t] THEN "OnExpiration" ELSE "Claim")
            /\ UNCHANGED <<at, todo, mine>>
    /\ UNCHANGED <<watchersOf, made, content, state, timer, started, estimated, closed, world,
                   list, next, lists, doomed, reading, live, ender>>

-----------------------------------------------------------------------------
(* try_complete_else_watch (2.4): the lock is held until the last attempt has ended *)

\* Whether the call of w has ended before that of x begins; a model may put them in an order.
ComesBefore(w, x) == FALSE

TestOpen(w) ==
    /\ pc[w] = "TestOpen"
    /\ \A x \in Watchers : ComesBefore(x, w) => pc[x] = "Done"
    /\ Go(w, IF closed THEN "Refused" ELSE "WatchLock")
    /\ UNCHANGED <<shared, world, registers, ender>>

\* The shard's lock is held to find or make the list and to put the operation there (2.8).
Watch(w) ==
    LET op == at[w]
        k == KeysOf[op][next[w]]
        l == IF watchersOf[k] = None THEN <<k, made[k] + 1>> ELSE watchersOf[k]
    IN
    /\ pc[w] = "Watch"
    /\ watchersOf' = [watchersOf EXCEPT ![k] = l]
    /\ made' = [made EXCEPT ![k] = l[2]]
    /\ content' = [content EXCEPT ![l] = Append(@, op)]
    /\ next' = [next EXCEPT ![w] = @ + 1]
    /\ Go(w, IF next[w] = Len(KeysOf[op]) THEN "TryLast" ELSE "WatchIsDone")
    /\ UNCHANGED <<lock, state, timer, started, estimated, closed, world, at, list, todo, mine,
                   lists, doomed, reading, live, ender>>

\* A timer that has been closed refuses.
AddToTimer(w) ==
    /\ pc[w] = "AddToTimer"
    /\ timer' = [timer EXCEPT ![at[w]] = IF closed THEN @ ELSE "in"]
    /\ Go(w, IF closed THEN "Count" ELSE "TimeoutStarted")
    /\ UNCHANGED <<watchersOf, made, content, lock, state, started, estimated, closed, world,
                   registers, ender>>

\* Then it looks whether anybody has left the time-out to it.
TimeoutStarted(w) ==
    /\ pc[w] = "TimeoutStarted"
    /\ started' = [started EXCEPT ![at[w]] = TRUE]
    /\ Go(w, "TailIsDoneAgain")
    /\ UNCHANGED <<watchersOf, made, content, lock, state, timer, estimated, closed, world,
                   registers, ender>>

\* The operation counts as watched, last of all: no purge may forget it (2.10).
Count(w) ==
    /\ pc[w] = "Count"
    /\ estimated' = estimated + 1
    /\ Go(w, "Done")
    /\ UNCHANGED <<watchersOf, made, content, lock, state, timer, started, closed, world,
                   registers, ender>>

-----------------------------------------------------------------------------
(* check_and_complete (2.6) *)

\* The caller makes a predicate true, and triggers afterwards.
MakeTrue(c) ==
    /\ pc[c] = "MakeTrue"
    /\ holds' = holds \cup ({Makes[c]} \ {None})
    /\ Go(c, "FetchWatchers")
    /\ UNCHANGED <<shared, answers, expirations, registers, ender>>

FetchWatchers(c) ==
    LET l == watchersOf[KeyOf[c]] IN
    /\ pc[c] = "FetchWatchers"
    /\ list' = [list EXCEPT ![c] = l]
    /\ Go(c, IF l = None THEN "Done" ELSE "Snapshot")
    /\ UNCHANGED <<shared, world, at, todo, next, mine, lists, doomed, reading, live, ender>>

WalkRemove(c) ==
    /\ pc[c] = "WalkRemove"
    /\ RemoveFrom(list[c], at[c])
    /\ WalkOn(c)
    /\ UNCHANGED <<watchersOf, made, lock, state, timer, started, estimated, closed, world, list,
                   next, lists, doomed, reading, live, ender>>

\* Where a thread that has walked over a list goes.
NextList(t) ==
    IF t \in Purgers /\ lists[t] # <<>>
    THEN /\ list' = [list EXCEPT ![t] = Head(lists[t])]
         /\ lists' = [lists EXCEPT ![t] = Tail(@)]
         /\ Go(t, "Snapshot")
    ELSE /\ list' = [list EXCEPT ![t] = None]
         /\ UNCHANGED lists
         /\ Go(t, IF t \in Purgers THEN "PurgeReset" ELSE "Done")

TestEmpty(t) ==
    /\ pc[t] = "TestEmpty"
    /\ IF content[list[t]] = <<>>
       THEN /\ Go(t, "RemoveKeyIfEmpty")
            /\ UNCHANGED <<list, lists>>
       ELSE NextList(t)
    /\ UNCHANGED <<shared, world, at, todo, next, mine, doomed, reading, live, ender>>

\* Under the shard's lock, and only if the key still has this list.
RemoveKeyIfEmpty(t) ==
    LET l == list[t]
        k == KeyOfList(l)
    IN
    /\ pc[t] = "RemoveKeyIfEmpty"
    /\ watchersOf' =
        IF watchersOf[k] = l /\ content[l] = <<>>
        THEN [watchersOf EXCEPT ![k] = None]
        ELSE watchersOf
    /\ NextList(t)
    /\ UNCHANGED <<made, content, lock, state, timer, started, estimated, closed, world, at, todo,
                   next, mine, doomed, reading, live, ender>>

-----------------------------------------------------------------------------
(* Time-outs (2.2), one after the other on the timer's thread *)

Claim(e) ==
    /\ pc[e] = "Claim"
    /\ ~closed
    /\ \E op \in Operations :
        /\ timer[op] = "in"
        /\ timer' = [timer EXCEPT ![op] = "fired"]
        /\ at' = [at EXCEPT ![e] = op]
    /\ mine' = [mine EXCEPT ![e] = FALSE]
    /\ Go(e, ForceStart)
    /\ UNCHANGED <<watchersOf, made, content, lock, state, started, estimated, closed, world,
                   list, todo, next, lists, doomed, reading, live, ender>>

OnExpiration(e) ==
    /\ pc[e] = "OnExpiration"
    /\ expirations' = [expirations EXCEPT ![at[e]] = @ + 1]
    /\ Go(e, "Claim")
    /\ UNCHANGED <<shared, holds, answers, registers, ender>>

-----------------------------------------------------------------------------
(* cancel_for_key (2.9) *)

RemoveKey(x) ==
    LET k == KeyOf[x] IN
    /\ pc[x] = "RemoveKey"
    /\ list' = [list EXCEPT ![x] = watchersOf[k]]
    /\ watchersOf' = [watchersOf EXCEPT ![k] = None]
    /\ Go(x, IF watchersOf[k] = None THEN "Done" ELSE "Snapshot")
    /\ UNCHANGED <<made, content, lock, state, timer, started, estimated, closed, world, at, todo,
                   next, mine, lists, doomed, reading, live, ender>>

\* force_cancel: who is done already is left alone.
CancelOperation(x) ==
    LET op == at[x] IN
    /\ pc[x] = "CancelOperation"
    /\ IF Done(op)
       THEN /\ WalkOn(x)
            /\ UNCHANGED <<state, ender>>
       ELSE /\ state' = [state EXCEPT ![op] = "cancelled"]
            /\ ender' = [ender EXCEPT ![op] = x]
            /\ Go(x, "EndTimeout")
            /\ UNCHANGED <<at, todo, mine>>
    /\ UNCHANGED <<watchersOf, made, content, lock, timer, started, estimated, closed, world,
                   list, next, lists, doomed, reading, live>>

-----------------------------------------------------------------------------
(* Purging (2.10) *)

\* advance_clock asks whether it is worth while.
PurgeReadEstimate(p) ==
    /\ pc[p] = "PurgeReadEstimate"
    /\ reading' = [reading EXCEPT ![p] = estimated]
    /\ Go(p, "PurgeReadDelayed")
    /\ UNCHANGED <<shared, world, at, list, todo, next, mine, lists, doomed, live, ender>>

PurgeReadDelayed(p) ==
    /\ pc[p] = "PurgeReadDelayed"
    /\ reading' = [reading EXCEPT ![p] = 0]
    /\ Go(p, IF reading[p] - NumDelayed > PurgeInterval THEN "PurgeBegin" ELSE "PurgeReadEstimate")
    /\ UNCHANGED <<shared, world, at, list, todo, next, mine, lists, doomed, live, ender>>

\* The estimate is read before the first list.
PurgeBegin(p) ==
    /\ pc[p] = "PurgeBegin"
    /\ reading' = [reading EXCEPT ![p] = estimated]
    /\ Go(p, "PurgeFetch")
    /\ UNCHANGED <<shared, world, at, list, todo, next, mine, lists, doomed, live, ender>>

\* Of the estimate there stay those that were pending, and those that came meanwhile.
PurgeReset(p) ==
    /\ pc[p] = "PurgeReset"
    /\ estimated' = estimated + Cardinality(live[p]) - reading[p]
    /\ reading' = [reading EXCEPT ![p] = 0]
    /\ live' = [live EXCEPT ![p] = {}]
    /\ Go(p, "PurgeReadEstimate")
    /\ UNCHANGED <<watchersOf, made, content, lock, state, timer, started, closed, world, at,
                   list, todo, next, mine, lists, doomed, ender>>

RECURSIVE InSomeOrder(_)
InSomeOrder(set) ==
    IF set = {} THEN <<>> ELSE LET x == CHOOSE x \in set : TRUE IN <<x>> \o InSomeOrder(set \ {x})

\* With a single shard; the next one is looked at when this one has been purged.
PurgeFetch(p) ==
    /\ pc[p] = "PurgeFetch"
    /\ LET found == InSomeOrder({watchersOf[k] : k \in Keys} \ {None}) IN
       IF found = <<>>
       THEN /\ Go(p, "PurgeReset")
            /\ UNCHANGED <<list, lists>>
       ELSE /\ list' = [list EXCEPT ![p] = Head(found)]
            /\ lists' = [lists EXCEPT ![p] = Tail(found)]
            /\ Go(p, "Snapshot")
    /\ UNCHANGED <<shared, world, at, todo, next, mine, doomed, reading, live, ender>>

PurgeIsDone(p) ==
    LET op == at[p] IN
    /\ pc[p] = "PurgeIsDone"
    /\ doomed' = [doomed EXCEPT ![p] = IF Done(op) THEN Append(@, op) ELSE @]
    /\ live' = [live EXCEPT ![p] = IF Done(op) THEN @ ELSE @ \cup {op}]
    /\ WalkOn(p)
    /\ UNCHANGED <<shared, world, list, next, lists, reading, ender>>

PurgeRemove(p) ==
    /\ pc[p] = "PurgeRemove"
    /\ doomed[p] # <<>>
    /\ RemoveFrom(list[p], Head(doomed[p]))
    /\ doomed' = [doomed EXCEPT ![p] = Tail(@)]
    /\ UNCHANGED <<watchersOf, made, lock, state, timer, started, estimated, closed, world, pc,
                   at, list, todo, next, mine, lists, reading, live, ender>>

\* What is_empty finds when nothing is left to remove.
PurgeTestEmpty(p) ==
    /\ pc[p] = "PurgeRemove"
    /\ doomed[p] = <<>>
    /\ IF content[list[p]] = <<>>
       THEN /\ Go(p, "RemoveKeyIfEmpty")
            /\ UNCHANGED <<list, lists>>
       ELSE NextList(p)
    /\ UNCHANGED <<shared, world, at, todo, next, mine, doomed, reading, live, ender>>

-----------------------------------------------------------------------------
(* shutdown (2.11) *)

Shutdown(c) ==
    /\ pc[c] = "Shutdown"
    /\ closed' = TRUE
    /\ Go(c, "Done")
    /\ UNCHANGED <<watchersOf, made, content, lock, state, timer, started, estimated, world,
                   registers, ender>>

-----------------------------------------------------------------------------
(* An operation raises where it is called (6.4) *)

\* The predicate: at first, after the last watch, or when a trigger tries.
TryCompleteRaises(t) ==
    /\ pc[t] \in {"TryFirst", "TryLast", "TryComplete"}
    /\ at[t] \in Raising
    /\ Go(t, "UnlockAndRaise")
    /\ UNCHANGED <<shared, world, registers, ender>>

\* on_complete, which has been called then; the operation is completed already.
OnCompleteRaises(t) ==
    LET op == at[t] IN
    /\ pc[t] = "OnComplete"
    /\ op \in Raising
    /\ answers' = [answers EXCEPT ![op] = @ + 1]
    /\ Go(t, IF lock[op] = t THEN "UnlockAndRaise" ELSE "Claim")
    /\ UNCHANGED <<shared, holds, expirations, registers, ender>>

OnExpirationRaises(e) ==
    /\ pc[e] = "OnExpiration"
    /\ at[e] \in Raising
    /\ expirations' = [expirations EXCEPT ![at[e]] = @ + 1]
    /\ Go(e, "Claim")
    /\ UNCHANGED <<shared, holds, answers, registers, ender>>

\* The timer does not take the time-out; the operation's lock is not held any more.
AddToTimerRaises(w) ==
    /\ pc[w] = "AddToTimer"
    /\ at[w] \in Raising
    /\ Go(w, "GiveUp")
    /\ UNCHANGED <<shared, world, registers, ender>>

UnlockAndRaise(t) ==
    /\ pc[t] = "UnlockAndRaise"
    /\ lock' = [lock EXCEPT ![at[t]] = None]
    /\ Go(t, IF t \in Triggers
             THEN "IsDoneAfterRaising"
             ELSE IF t \in Timers
             THEN "Claim"
             ELSE IF next[t] > 1 THEN "GiveUp" ELSE "EndRaising")
    /\ UNCHANGED <<watchersOf, made, content, state, timer, started, estimated, closed, world,
                   registers, ender>>

\* A trigger drops what has raised if it is done by now, and goes on to the next operation.
IsDoneAfterRaising(c) ==
    /\ pc[c] = "IsDoneAfterRaising"
    /\ IF Done(at[c])
       THEN /\ Go(c, "WalkRemove")
            /\ UNCHANGED <<at, todo, mine>>
       ELSE WalkOn(c)
    /\ UNCHANGED <<shared, world, list, next, lists, doomed, reading, live, ender>>

\* force_cancel of an operation that has been watched; nobody has said that it is in the timer.
GiveUp(w) ==
    LET op == at[w] IN
    /\ pc[w] = "GiveUp"
    /\ IF Done(op)
       THEN UNCHANGED <<state, ender>>
       ELSE /\ state' = [state EXCEPT ![op] = "cancelled"]
            /\ ender' = [ender EXCEPT ![op] = w]
    /\ Go(w, "UnwatchFetch")
    /\ UNCHANGED <<watchersOf, made, content, lock, timer, started, estimated, closed, world,
                   registers>>

\* Key by key: where its list is, out of it, and the key's end if that was the last.
UnwatchFetch(w) ==
    LET last == next[w] - 1 IN
    /\ pc[w] = "UnwatchFetch"
    /\ IF last = 0
       THEN /\ Go(w, "EndRaising")
            /\ UNCHANGED <<list, next>>
       ELSE IF watchersOf[KeysOf[at[w]][last]] = None
       THEN /\ next' = [next EXCEPT ![w] = last]
            /\ UNCHANGED <<list, pc>>
       ELSE /\ list' = [list EXCEPT ![w] = watchersOf[KeysOf[at[w]][last]]]
            /\ Go(w, "UnwatchRemove")
            /\ UNCHANGED next
    /\ UNCHANGED <<shared, world, at, todo, mine, lists, doomed, reading, live, ender>>

UnwatchRemove(w) ==
    /\ pc[w] = "UnwatchRemove"
    /\ RemoveFrom(list[w], at[w])
    /\ Go(w, "UnwatchTestEmpty")
    /\ UNCHANGED <<watchersOf, made, lock, state, timer, started, estimated, closed, world,
                   registers, ender>>

NextKey(w) ==
    /\ list' = [list EXCEPT ![w] = None]
    /\ next' = [next EXCEPT ![w] = @ - 1]
    /\ Go(w, "UnwatchFetch")

UnwatchTestEmpty(w) ==
    /\ pc[w] = "UnwatchTestEmpty"
    /\ IF content[list[w]] = <<>>
       THEN /\ Go(w, "UnwatchKey")
            /\ UNCHANGED <<list, next>>
       ELSE NextKey(w)
    /\ UNCHANGED <<shared, world, at, todo, mine, lists, doomed, reading, live, ender>>

UnwatchKey(w) ==
    LET l == list[w]
        k == KeyOfList(l)
    IN
    /\ pc[w] = "UnwatchKey"
    /\ watchersOf' =
        IF watchersOf[k] = l /\ content[l] = <<>>
        THEN [watchersOf EXCEPT ![k] = None]
        ELSE watchersOf
    /\ NextKey(w)
    /\ UNCHANGED <<made, content, lock, state, timer, started, estimated, closed, world, at, todo,
                   mine, lists, doomed, reading, live, ender>>

\* Last of all the time-out is taken back, if there is one; then the call raises.
EndRaising(w) ==
    /\ pc[w] = "EndRaising"
    /\ timer' = [timer EXCEPT ![at[w]] = IF @ = "in" THEN "out" ELSE @]
    /\ Go(w, "Raised")
    /\ UNCHANGED <<watchersOf, made, content, lock, state, started, estimated, closed, world,
                   registers, ender>>

-----------------------------------------------------------------------------

Attempt(t) ==
    \/ IsDone(t) \/ TryComplete(t) \/ ForceComplete(t) \/ EndTimeout(t) \/ CancelTask(t)
    \/ OnComplete(t) \/ Unlock(t)

WatchStep(w) ==
    \/ TestOpen(w) \/ Watch(w) \/ AddToTimer(w) \/ TimeoutStarted(w) \/ Count(w) \/ Attempt(w)

CheckStep(c) ==
    \/ FetchWatchers(c) \/ Snapshot(c) \/ WalkRemove(c) \/ TestEmpty(c) \/ RemoveKeyIfEmpty(c)
    \/ Attempt(c)

ExpiryStep(e) == Attempt(e) \/ OnExpiration(e)

CancelStep(x) == Snapshot(x) \/ CancelOperation(x) \/ EndTimeout(x) \/ CancelTask(x)

PurgeStep(p) ==
    \/ PurgeReadDelayed(p) \/ PurgeReadEstimate(p) \/ PurgeBegin(p) \/ PurgeFetch(p)
    \/ Snapshot(p) \/ PurgeIsDone(p) \/ PurgeRemove(p) \/ PurgeTestEmpty(p)
    \/ RemoveKeyIfEmpty(p) \/ PurgeReset(p)

IfAnyRaises(threads) == IF Raising = {} THEN {} ELSE threads

WatchRaises(w) == TryCompleteRaises(w) \/ OnCompleteRaises(w) \/ AddToTimerRaises(w)

CheckRaises(c) == TryCompleteRaises(c) \/ OnCompleteRaises(c)

ExpiryRaises(e) == OnCompleteRaises(e) \/ OnExpirationRaises(e)

\* What a watcher does that has raised.
WithdrawStep(w) ==
    \/ UnlockAndRaise(w) \/ GiveUp(w) \/ UnwatchFetch(w) \/ UnwatchRemove(w)
    \/ UnwatchTestEmpty(w) \/ UnwatchKey(w) \/ EndRaising(w)

\* Nobody is in a call, but perhaps a purger.
Quiet == \A t \in Threads \ Purgers : pc[t] \in {"Done", "Refused", "Raised", "Claim"}

Terminated ==
    /\ Quiet
    /\ UNCHANGED vars

Next ==
    \/ \E w \in Watchers : Lock(w) \/ WatchStep(w)
    \/ \E c \in Triggers : MakeTrue(c) \/ Lock(c) \/ CheckStep(c)
    \/ \E e \in Timers : Claim(e) \/ Lock(e) \/ ExpiryStep(e)
    \/ \E x \in Cancellers : RemoveKey(x) \/ CancelStep(x)
    \/ \E p \in Purgers : PurgeStep(p)
    \/ \E c \in Closers : Shutdown(c)
    \/ \E w \in IfAnyRaises(Watchers) : WatchRaises(w) \/ WithdrawStep(w)
    \/ \E c \in IfAnyRaises(Triggers) :
        CheckRaises(c) \/ UnlockAndRaise(c) \/ IsDoneAfterRaising(c)
    \/ \E e \in IfAnyRaises(Timers) : ExpiryRaises(e) \/ UnlockAndRaise(e)
    \/ Terminated

Fairness ==
    /\ \A w \in IfAnyRaises(Watchers) : WF_vars(WithdrawStep(w))
    /\ \A t \in IfAnyRaises(Triggers \cup Timers) : WF_vars(UnlockAndRaise(t))
    /\ \A c \in IfAnyRaises(Triggers) : WF_vars(IsDoneAfterRaising(c))
    /\ \A w \in Watchers : WF_vars(WatchStep(w)) /\ SF_vars(Lock(w))
    /\ \A c \in Triggers : WF_vars(CheckStep(c)) /\ SF_vars(Lock(c))
    /\ \A e \in Timers : WF_vars(ExpiryStep(e)) /\ SF_vars(Lock(e))
    /\ \A x \in Cancellers : WF_vars(CancelStep(x))
    /\ \A p \in Purgers : WF_vars(PurgeStep(p))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Invariants *)

Labels ==
    {"TestOpen", "WatchLock", "TryFirst", "WatchIsDone", "Watch", "TryLast", "TailIsDone",
     "AddToTimer", "TimeoutStarted", "TailIsDoneAgain", "TailCancel", "Count", "MakeTrue",
     "FetchWatchers", "Snapshot", "WalkIsDone", "Lock", "IsDoneUnderLock", "TryComplete",
     "ForceIsDone", "ForceLock", "ForceComplete", "EndTimeout", "CancelTask", "OnComplete",
     "Unlock", "WalkRemove", "TestEmpty", "RemoveKeyIfEmpty", "Claim", "OnExpiration", "RemoveKey",
     "CancelOperation", "PurgeReadDelayed", "PurgeReadEstimate", "PurgeBegin", "PurgeReset",
     "PurgeFetch", "PurgeIsDone", "PurgeRemove", "Shutdown",
     "UnlockAndRaise", "IsDoneAfterRaising", "GiveUp", "UnwatchFetch", "UnwatchRemove", "UnwatchTestEmpty", "UnwatchKey",
     "EndRaising", "Raised", "Refused", "Done"}

TypeOK ==
    /\ watchersOf \in [Keys -> Lists \cup {None}]
    /\ made \in [Keys -> 0..Cardinality(Operations)]
    /\ \A l \in Lists : Range(content[l]) \subseteq Operations
    /\ lock \in [Operations -> Threads \cup {None}]
    /\ state \in [Operations -> {"pending", "completed", "cancelled"}]
    /\ timer \in [Operations -> {"out", "in", "fired"}]
    /\ started \in [Operations -> BOOLEAN]
    /\ estimated \in Int
    /\ closed \in BOOLEAN
    /\ holds \subseteq Operations
    /\ answers \in [Operations -> Nat]
    /\ expirations \in [Operations -> Nat]
    /\ pc \in [Threads -> Labels]
    /\ at \in [Threads -> Operations \cup {None}]
    /\ list \in [Threads -> Lists \cup {None}]

OperationOnceInAList ==
    \A l \in Lists : \A i, j \in DOMAIN content[l] : content[l][i] = content[l][j] => i = j

\* Else no trigger finds it (2.8).  A cancel_for_key under way has it in hand.
PendingOperationIsReachable ==
    \A w \in Watchers : LET op == OperationOf[w] IN
        pc[w] = "Done" =>
            \A k \in Range(KeysOf[op]) :
                \/ Done(op)
                \/ watchersOf[k] # None /\ op \in Range(content[watchersOf[k]])
                \/ \E x \in Cancellers : list[x] # None /\ op \in Range(content[list[x]])

EmptyListsAreGoneInTheEnd ==
    Quiet /\ (\A p \in Purgers : list[p] = None)
        => \A k \in Keys : watchersOf[k] # None => content[watchersOf[k]] # <<>>

DoneOperationsAreOutOfTheTimerInTheEnd ==
    Quiet => \A op \in Operations : Done(op) => timer[op] # "in"

\* Whoever waits in the end has a time-out, unless the purgatory was shut down.
PendingOperationHasATimeOut ==
    Quiet /\ ~closed =>
        \A w \in Watchers : LET op == OperationOf[w] IN
            Done(op) \/ timer[op] = "in" \/ pc[w] = "Raised"

\* What is done leaves the lists (2.6): a trigger has dropped what it has completed.
TriggerDropsWhatItCompletes ==
    \A c \in Triggers : pc[c] = "Done" =>
        \A op \in Operations : ender[op] = c =>
            \A l \in Lists : KeyOfList(l) = KeyOf[c] => op \notin Range(content[l])

\* Whoever has made a predicate true and triggered under a key of the operation has it done, whatever
\* other triggers do (2.6).  A cancel_for_key under way may have taken it out of reach.
TriggeredOperationIsDone ==
    \A c \in Triggers, w \in Watchers : LET op == OperationOf[w] IN
        pc[c] = "Done" /\ pc[w] = "Done" /\ Makes[c] = op /\ KeyOf[c] \in Range(KeysOf[op])
            => \/ Done(op) \/ op \in Raising
               \/ \E x \in Cancellers : list[x] # None /\ op \in Range(content[list[x]])

Tries(t) ==
    /\ t \notin Timers
    /\ pc[t] \in {"TryFirst", "TryLast", "TryComplete", "ForceIsDone", "ForceComplete"}

TryCompleteAndOnCompleteExcludeEachOther ==
    ~\E t, u \in Threads : at[t] = at[u] /\ Tries(t) /\ pc[u] = "OnComplete"

\* What the estimate is for (2.10): operations that are done and watched are counted there.
Garbage == {op \in Operations : Done(op) /\ \E k \in Keys :
    watchersOf[k] # None /\ op \in Range(content[watchersOf[k]])}

EstimateCoversGarbage ==
    Quiet /\ (\A p \in Purgers : pc[p] \in {"PurgeReadEstimate", "PurgeReadDelayed"})
        => Cardinality(Garbage) <= estimated - NumDelayed

-----------------------------------------------------------------------------
\* What a call needs is gone when it ends.
CallsLeaveNothingBehind ==
    /\ \A t \in Triggers \cup Cancellers : pc[t] = "Done" =>
        at[t] = None /\ todo[t] = <<>> /\ ~mine[t]
    /\ \A t \in Triggers : pc[t] = "Done" => list[t] = None
    /\ \A p \in Purgers : pc[p] \in {"PurgeReadEstimate", "PurgeBegin"} =>
        list[p] = None /\ lists[p] = <<>> /\ doomed[p] = <<>> /\ reading[p] = 0 /\ live[p] = {}
    /\ \A op \in Operations : lock[op] # None => pc[lock[op]] \notin {"Done", "Claim", "Raised"}

(* Whatever raises (6.4) *)

\* A call that has raised leaves no watch, no time-out and no lock behind (6.4.1, 6.4.2).
ARaisingWatchLeavesNothing ==
    \A w \in Watchers : LET op == OperationOf[w] IN
        pc[w] = "Raised" =>
            /\ \A l \in Lists : op \notin Range(content[l])
            /\ timer[op] # "in"
            /\ list[w] = None

\* What was watched is given up before it is taken out, unless it is completed (6.4.2).
ARaisingOperationIsGivenUp ==
    \A w \in Watchers :
        pc[w] \in {"UnwatchFetch", "UnwatchRemove", "UnwatchTestEmpty", "UnwatchKey"} =>
            Done(OperationOf[w])

\* Whatever its callback raises (6.4.4).
CallbacksRunOnceAtMost ==
    \A op \in Operations :
        /\ answers[op] <= 1 /\ expirations[op] <= 1
        /\ answers[op] > 0 => state[op] = "completed"

(* Action property *)

NothingExpiresAfterShutdown ==
    [][\A op \in Operations : closed => (timer'[op] = "fired" => timer[op] = "fired")]_vars

\* Rule 2.6.1: a trigger completes nothing that was watched after the operation that it has made true,
\* before that is done.
TriggersFollowTheOrderOfWatches ==
    [][\A c \in Triggers : \A w, x \in Watchers :
        ComesBefore(w, x) /\ Makes[c] = OperationOf[w] /\ ender'[OperationOf[x]] = c =>
            Done(OperationOf[w])]_vars

\* Rule 2.11.2, from the return of shutdown on; and not before its call.
WatchesAreRefusedAfterShutdown ==
    [][\A w \in Watchers : pc[w] = "TestOpen" /\ pc'[w] # "TestOpen" =>
        IF pc'[w] = "Refused"
        THEN \E c \in Closers : pc[c] # "Shutdown"
        ELSE \A c \in Closers : pc[c] # "Done"]_vars

-----------------------------------------------------------------------------
(* Liveness *)

WatchesEnd ==
    \A w \in Watchers : pc[w] \notin {"TestOpen", "Refused"} ~> pc[w] \in {"Done", "Raised"}

ChecksEnd == \A c \in Triggers : pc[c] # "MakeTrue" ~> pc[c] = "Done"

ExpiriesEnd == \A e \in Timers : pc[e] # "Claim" ~> pc[e] = "Claim"

\* And a trigger drops what it finds done.  Until its watcher has gone, an operation may still be on
\* its way into the list.
TriggerDropsWhatIsDone ==
    \A c \in Triggers, w \in Watchers : LET op == OperationOf[w] IN
        pc[c] = "FetchWatchers" /\ pc[w] = "Done" /\ Done(op)
            ~> LET l == watchersOf[KeyOf[c]] IN l = None \/ op \notin Range(content[l])

\* With a purger, and an interval that lets it purge at once.
GarbageVanishes == \A op \in Operations : op \in Garbage ~> op \notin Garbage

-----------------------------------------------------------------------------
(* Refinement *)

Submitted(op) == \E w \in Watchers : OperationOf[w] = op /\ pc[w] \notin {"TestOpen", "Refused"}

HowItStands ==
    [op \in Operations |->
        CASE state[op] = "pending" -> IF Submitted(op) THEN "pending" ELSE "idle"
          [] state[op] = "completed" -> IF ender[op] \in Timers THEN "expired" ELSE "completed"
          [] state[op] = "cancelled" -> "cancelled"]

AbstractOperations == INSTANCE DelayedOperation WITH outcome <- HowItStands

\* With its promise that what holds is completed without waiting for the time-out.
RefinesDelayedOperation == AbstractOperations!Spec

RefinesItsSafety == AbstractOperations!Safe

\* The watchers whose call is past the last try (2.4).
PastTheLastTry ==
    {"Unlock", "TailIsDone", "AddToTimer", "TimeoutStarted", "TailIsDoneAgain", "TailCancel",
     "Count", "GiveUp", "Done"}

Taken == UNION {Range(IF pc[x] = "Snapshot" THEN content[list[x]] ELSE todo[x]) : x \in Cancellers}

FoundUnder(k) == IF watchersOf[k] = None THEN {} ELSE Range(content[watchersOf[k]])

\* What a trigger has found: its call finds what is watched when it begins, and tries it in turn.
Found(c) ==
    CASE pc[c] = "FetchWatchers" -> FoundUnder(KeyOf[c])
      [] pc[c] = "Snapshot" -> Range(content[list[c]])
      [] pc[c] \in {"Unlock", "WalkRemove", "UnlockAndRaise", "IsDoneAfterRaising"} ->
            Range(Tail(todo[c]))
      [] OTHER -> Range(todo[c])

Keyed == INSTANCE KeyedOperations WITH
    KeysOf <- [op \in Operations |-> Range(KeysOf[op])],
    outcome <- HowItStands,
    watched <- [op \in Operations |->
        IF Done(op) THEN {} ELSE {k \in Keys : op \in FoundUnder(k)}],
    settled <- {op \in Operations : ~Done(op) /\
        \E w \in Watchers : OperationOf[w] = op /\ pc[w] \in PastTheLastTry},
    doomed <- {op \in Taken : ~Done(op)},
    key <- [c \in Triggers |-> IF pc[c] \in {"MakeTrue", "Done"} THEN None ELSE KeyOf[c]],
    todo <- [c \in Triggers |-> {op \in Found(c) \ Taken : ~Done(op)}]

\* All of it: each trigger tries whatever was watched under its key when it was called.
RefinesKeyedOperations == Keyed!Safe

THEOREM Spec => RefinesItsSafety /\ RefinesKeyedOperations
=============================================================================
