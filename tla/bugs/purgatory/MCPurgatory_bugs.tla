-------------------------- MODULE MCPurgatory_bugs --------------------------
(* What replaces an action of Purgatory to bring a mistake into it. *)
EXTENDS MCPurgatory

\* KAFKA-2253: the list is found or made, and the operation is put there later.
GetThenAdd(w) ==
    LET op == at[w]
        k == KeysOf[op][next[w]]
        l == IF watchersOf[k] = None THEN <<k, made[k] + 1>> ELSE watchersOf[k]
    IN
    /\ \/ /\ pc[w] = "Watch"
          /\ watchersOf' = [watchersOf EXCEPT ![k] = l]
          /\ made' = [made EXCEPT ![k] = l[2]]
          /\ list' = [list EXCEPT ![w] = l]
          /\ Go(w, "WatchAdd")
          /\ UNCHANGED <<content, next>>
       \/ /\ pc[w] = "WatchAdd"
          /\ content' = [content EXCEPT ![list[w]] = Append(@, op)]
          /\ next' = [next EXCEPT ![w] = @ + 1]
          /\ list' = [list EXCEPT ![w] = None]
          /\ Go(w, IF next[w] = Len(KeysOf[op]) THEN "TryLast" ELSE "WatchIsDone")
          /\ UNCHANGED <<watchersOf, made>>
    /\ UNCHANGED <<lock, state, timer, started, estimated, closed, world, at, todo, mine, lists,
                   doomed, reading, live, ender>>

\* A key that is given twice.
TheSameKeyTwice == [op \in Operations |-> <<"k1", "k1">>]

\* Rule 2.9: Kafka's cancel_for_key cancels the time-out and leaves the operation as it is.
CancelTheTimeout(x) ==
    LET op == at[x] IN
    /\ pc[x] = "CancelOperation"
    /\ IF Done(op)
       THEN /\ WalkOn(x)
            /\ UNCHANGED ender
       ELSE /\ ender' = [ender EXCEPT ![op] = x]
            /\ Go(x, "EndTimeout")
            /\ UNCHANGED <<at, todo, mine>>
    /\ UNCHANGED <<shared, world, list, next, lists, doomed, reading, live>>

\* What cancel_for_key has returned is not completed afterwards.
CancelledStaysCancelled ==
    [][\A op \in Operations : ender[op] \in Cancellers => ender'[op] = ender[op]]_vars

\* The tail does not test the operation again after the timer's add.
TailNotTested(w) ==
    /\ pc[w] = "TimeoutStarted"
    /\ started' = [started EXCEPT ![at[w]] = TRUE]
    /\ Go(w, "Count")
    /\ UNCHANGED <<watchersOf, made, content, lock, state, timer, estimated, closed, world,
                   registers, ender>>

\* Watched operations get no time-out.
AddNothing(w) ==
    /\ pc[w] = "AddToTimer"
    /\ Go(w, "Count")
    /\ UNCHANGED <<shared, world, registers, ender>>

\* A watcher waits for a timer that has been closed.
AddToOpenTimerOnly(w) ==
    /\ pc[w] = "AddToTimer"
    /\ ~closed
    /\ timer' = [timer EXCEPT ![at[w]] = "in"]
    /\ Go(w, "TimeoutStarted")
    /\ UNCHANGED <<watchersOf, made, content, lock, state, started, estimated, closed, world,
                   registers, ender>>

\* Rule 2.10: before the purge the estimate is set to the size of the timer.
ResetFirst(p) ==
    /\ pc[p] = "PurgeBegin"
    /\ estimated' = NumDelayed
    /\ Go(p, "PurgeFetch")
    /\ UNCHANGED <<watchersOf, made, content, lock, state, timer, started, closed, world,
                   registers, ender>>

ResetNothing(p) ==
    /\ pc[p] = "PurgeReset"
    /\ live' = [live EXCEPT ![p] = {}]
    /\ Go(p, "PurgeReadEstimate")
    /\ UNCHANGED <<shared, world, at, list, todo, next, mine, lists, doomed, reading, ender>>

\* An operation counts as pending under the first of its keys alone.
CountUnderTheFirstKey(p) ==
    LET op == at[p]
        counts == ~Done(op) /\ KeysOf[op][1] = KeyOfList(list[p])
    IN
    /\ pc[p] = "PurgeIsDone"
    /\ doomed' = [doomed EXCEPT ![p] = IF Done(op) THEN Append(@, op) ELSE @]
    /\ live' = [live EXCEPT ![p] = IF counts THEN @ \cup {op} ELSE @]
    /\ WalkOn(p)
    /\ UNCHANGED <<shared, world, list, next, lists, reading, ender>>

\* KAFKA-2160: keys stay.
KeepTheKey(t) ==
    /\ pc[t] = "TestEmpty"
    /\ NextList(t)
    /\ UNCHANGED <<shared, world, at, todo, next, mine, doomed, reading, live, ender>>

\* The key is removed though the list has been filled again.
RemoveKeyUntested(t) ==
    LET k == KeyOfList(list[t]) IN
    /\ pc[t] = "RemoveKeyIfEmpty"
    /\ watchersOf' = [watchersOf EXCEPT ![k] = None]
    /\ NextList(t)
    /\ UNCHANGED <<made, content, lock, state, timer, started, estimated, closed, world, at,
                   todo, next, mine, doomed, reading, live, ender>>

\* Time-outs run on after the shutdown.
ClaimFromClosed(e) ==
    /\ pc[e] = "Claim"
    /\ \E op \in Operations :
        /\ timer[op] = "in"
        /\ timer' = [timer EXCEPT ![op] = "fired"]
        /\ at' = [at EXCEPT ![e] = op]
    /\ mine' = [mine EXCEPT ![e] = FALSE]
    /\ Go(e, ForceStart)
    /\ UNCHANGED <<watchersOf, made, content, lock, state, started, estimated, closed, world,
                   list, todo, next, lists, doomed, reading, live, ender>>

\* A trigger keeps the lock of an operation that it has not completed.
KeepTheLock(t) ==
    /\ pc[t] = "Unlock"
    /\ lock' = IF t \in Triggers THEN lock ELSE [lock EXCEPT ![at[t]] = None]
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

\* The predicate is not asked.
TryUntested(t) ==
    /\ pc[t] \in {"TryFirst", "TryLast", "TryComplete"}
    /\ Go(t, ForceStart)
    /\ UNCHANGED <<shared, world, registers, ender>>

\* A trigger drops nothing from the list that it walks over.
DropNothing(c) ==
    /\ pc[c] = "WalkRemove"
    /\ WalkOn(c)
    /\ UNCHANGED <<shared, world, list, next, lists, doomed, reading, live, ender>>

\* A trigger drops what it has completed itself, and leaves what it finds done.
LeaveWhatIsDone(t) ==
    LET op == at[t] IN
    /\ \/ /\ pc[t] = "WatchIsDone"
          /\ Go(t, IF Done(op) THEN "TryLast" ELSE "Watch")
          /\ UNCHANGED <<at, todo, mine>>
       \/ /\ pc[t] = "TailIsDone"
          /\ Go(t, IF Done(op) THEN "Count" ELSE "AddToTimer")
          /\ UNCHANGED <<at, todo, mine>>
       \/ /\ pc[t] = "TailIsDoneAgain"
          /\ Go(t, IF Done(op) THEN "TailCancel" ELSE "Count")
          /\ UNCHANGED <<at, todo, mine>>
       \/ /\ pc[t] = "WalkIsDone"
          /\ IF Done(op) THEN WalkOn(t) ELSE Go(t, "Lock") /\ UNCHANGED <<at, todo, mine>>
       \/ /\ pc[t] = "IsDoneUnderLock"
          /\ Go(t, IF Done(op) THEN "Unlock" ELSE "TryComplete")
          /\ UNCHANGED <<at, todo, mine>>
       \/ /\ pc[t] = "ForceIsDone"
          /\ Go(t, IF Done(op) THEN Refused(t)
                   ELSE IF lock[op] = t THEN "ForceComplete" ELSE "ForceLock")
          /\ UNCHANGED <<at, todo, mine>>
    /\ UNCHANGED <<shared, world, list, next, lists, doomed, reading, live, ender>>

\* A thread that has walked over a list keeps it.
LeaveWithTheList(t) ==
    IF t \in Purgers /\ lists[t] # <<>>
    THEN /\ list' = [list EXCEPT ![t] = Head(lists[t])]
         /\ lists' = [lists EXCEPT ![t] = Tail(@)]
         /\ Go(t, "Snapshot")
    ELSE /\ UNCHANGED <<list, lists>>
         /\ Go(t, IF t \in Purgers THEN "PurgeReset" ELSE "Done")

\* The trigger comes, and what it tells of does not.
TriggerForNothing(c) ==
    /\ pc[c] = "MakeTrue"
    /\ Go(c, "FetchWatchers")
    /\ UNCHANGED <<shared, world, registers, ender>>

\* Kafka's: a trigger ends at the operation that raises.
StopAtTheError(t) ==
    /\ pc[t] = "UnlockAndRaise"
    /\ lock' = [lock EXCEPT ![at[t]] = None]
    /\ IF t \in Triggers
       THEN WalkOver(t, <<>>)
       ELSE /\ Go(t, IF t \in Timers THEN "Claim" ELSE "GiveUp")
            /\ UNCHANGED <<at, todo, mine>>
    /\ UNCHANGED <<watchersOf, made, content, state, timer, started, estimated, closed, world,
                   list, next, lists, doomed, reading, live, ender>>

\* Kafka's: what raises stays in its lists.
LeaveAtTheError(t) ==
    /\ pc[t] = "UnlockAndRaise"
    /\ lock' = [lock EXCEPT ![at[t]] = None]
    /\ IF t \in Triggers
       THEN WalkOn(t)
       ELSE /\ Go(t, IF t \in Timers THEN "Claim" ELSE "EndRaising")
            /\ UNCHANGED <<at, todo, mine>>
    /\ UNCHANGED <<watchersOf, made, content, state, timer, started, estimated, closed, world,
                   list, next, lists, doomed, reading, live, ender>>

\* A trigger goes on behind what raises, and drops it not even if it has completed it.
GoOnAtTheError(t) ==
    /\ pc[t] = "UnlockAndRaise"
    /\ lock' = [lock EXCEPT ![at[t]] = None]
    /\ IF t \in Triggers
       THEN WalkOn(t)
       ELSE /\ Go(t, IF t \in Timers
                     THEN "Claim"
                     ELSE IF next[t] > 1 THEN "GiveUp" ELSE "EndRaising")
            /\ UNCHANGED <<at, todo, mine>>
    /\ UNCHANGED <<watchersOf, made, content, state, timer, started, estimated, closed, world,
                   list, next, lists, doomed, reading, live, ender>>

\* Whoever raises keeps the operation's lock.
RaiseUnderTheLock(t) ==
    /\ pc[t] = "UnlockAndRaise"
    /\ IF t \in Triggers
       THEN WalkOn(t)
       ELSE /\ Go(t, IF t \in Timers THEN "Claim" ELSE "EndRaising")
            /\ UNCHANGED <<at, todo, mine>>
    /\ UNCHANGED <<shared, world, list, next, lists, doomed, reading, live, ender>>

\* A watch that raises takes the operation out of its lists, and leaves it pending.
GiveNothingUp(w) ==
    /\ pc[w] = "GiveUp"
    /\ Go(w, "UnwatchFetch")
    /\ UNCHANGED <<shared, world, registers, ender>>

\* An operation that the timer refuses goes on to wait, without a time-out.
StayWithoutATimeout(w) ==
    /\ pc[w] = "AddToTimer"
    /\ at[w] \in Raising
    /\ Go(w, "Count")
    /\ UNCHANGED <<shared, world, registers, ender>>

\* An operation whose callback raises is pending again.
OnCompleteRaisesInVain(t) ==
    LET op == at[t] IN
    /\ pc[t] = "OnComplete"
    /\ op \in Raising
    /\ answers' = [answers EXCEPT ![op] = @ + 1]
    /\ state' = [state EXCEPT ![op] = "pending"]
    /\ Go(t, IF lock[op] = t THEN "UnlockAndRaise" ELSE "Claim")
    /\ UNCHANGED <<watchersOf, made, content, lock, timer, started, estimated, closed, holds,
                   expirations, registers, ender>>

\* What a callback raises ends the thread that expires.
EndTheTimer(e) ==
    /\ pc[e] = "OnExpiration"
    /\ at[e] \in Raising
    /\ Go(e, "Done")
    /\ UNCHANGED <<shared, world, registers, ender>>

\* Where a watch ends that has put the operation there by `put`, and goes on with `following`.
WatchBy(w, put(_, _), following(_, _)) ==
    LET op == at[w]
        k == KeysOf[op][next[w]]
        l == IF watchersOf[k] = None THEN <<k, made[k] + 1>> ELSE watchersOf[k]
    IN
    /\ pc[w] = "Watch"
    /\ watchersOf' = [watchersOf EXCEPT ![k] = l]
    /\ made' = [made EXCEPT ![k] = l[2]]
    /\ content' = [content EXCEPT ![l] = put(@, op)]
    /\ next' = [next EXCEPT ![w] = @ + 1]
    /\ Go(w, following(op, next[w]))
    /\ UNCHANGED <<lock, state, timer, started, estimated, closed, world, at, list, todo, mine,
                   lists, doomed, reading, live, ender>>

AtTheHead(operations, op) == <<op>> \o operations

AfterTheLast(op, i) == IF i = Len(KeysOf[op]) THEN "TryLast" ELSE "WatchIsDone"

AfterTheFirst(op, i) == "TryLast"

AfterTheLastUntested(op, i) == IF i = Len(KeysOf[op]) THEN "Unlock" ELSE "WatchIsDone"

\* An operation is watched under the first of its keys alone.
WatchTheFirstKey(w) == WatchBy(w, Append, AfterTheFirst)

\* A list has the youngest operation first.
WatchAtTheHead(w) == WatchBy(w, AtTheHead, AfterTheLast)

\* The predicate is not tested again after the last watch.
WatchAndLeave(w) == WatchBy(w, Append, AfterTheLastUntested)

\* A trigger ends with the first operation that it completes, or finds done.
StopAfterOne(c) ==
    /\ pc[c] = "WalkRemove"
    /\ RemoveFrom(list[c], at[c])
    /\ WalkOver(c, <<>>)
    /\ UNCHANGED <<watchersOf, made, lock, state, timer, started, estimated, closed, world, list,
                   next, lists, doomed, reading, live, ender>>

\* A trigger ends with the first operation that it cannot complete.
StopAtTheFirst(t) ==
    /\ pc[t] = "Unlock"
    /\ lock' = [lock EXCEPT ![at[t]] = None]
    /\ IF t \in Triggers
       THEN WalkOver(t, <<>>)
       ELSE /\ Go(t, IF mine[t] THEN "Done" ELSE "TailIsDone")
            /\ UNCHANGED <<at, todo, mine>>
    /\ UNCHANGED <<watchersOf, made, content, state, timer, started, estimated, closed, world,
                   list, next, lists, doomed, reading, live, ender>>

\* A trigger begins with the youngest operation.
WalkBackwards(t) ==
    LET operations == content[list[t]] IN
    /\ pc[t] = "Snapshot"
    /\ WalkOver(t, [i \in DOMAIN operations |-> operations[Len(operations) + 1 - i]])
    /\ UNCHANGED <<shared, world, list, next, lists, doomed, reading, live, ender>>

\* A purgatory that was shut down takes operations in, as Kafka's does (finding 17).
TestNothing(w) ==
    /\ pc[w] = "TestOpen"
    /\ Go(w, "WatchLock")
    /\ UNCHANGED <<shared, world, registers, ender>>
=============================================================================
