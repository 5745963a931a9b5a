-------------------------- MODULE MCLockOrder_bugs --------------------------
(* Programs that end in a deadlock. *)
EXTENDS MCLockOrder

\* KAFKA-2253: the key is removed inside the list's monitor; the map has one read-write lock.
RemovalInsideList ==
    [t \in Threads |->
        IF t = "a" THEN Under("list", Writing("map")) ELSE Reading("map", Under("list", <<>>))]

\* KAFKA-3994, 4399: the list's monitor is held while its operations are tried.
TryInsideList ==
    [t \in Threads |->
        IF t = "a"
        THEN Under("group1", Under("list", Attempt("op1", <<>>)))
        ELSE Under("list", Attempt("op1", Under("group1", <<>>)))]

\* KAFKA-5970: a caller holds the group's lock, which the callback takes under the operation's.
CallerHoldsGroup ==
    [t \in Threads |->
        IF t = "a"
        THEN Under("group1", Attempt("op1", <<>>))
        ELSE Attempt("op1", Under("group1", <<>>))]

\* KAFKA-6042: each holds its group and tries an operation whose callback needs the other's.
PrivateLocks ==
    [t \in Threads |->
        IF t = "a"
        THEN Under("group1", Attempt("op2", Under("group2", <<>>)))
        ELSE Under("group2", Attempt("op1", Under("group1", <<>>)))]

\* KAFKA-7697: an append triggers inside the read side of its partition; the predicate reads both.
CheckInsideRead ==
    [t \in Threads |->
        CASE t = "a" -> Reading("p1", Attempt("op1", Reading("p2", <<>>)))
          [] t = "b" -> Reading("p2", Attempt("op2", Reading("p1", <<>>)))
          [] t = "w1" -> Writing("p1")
          [] t = "w2" -> Writing("p2")]

\* KAFKA-8334, first fix: the lock is taken for the last attempt only.
LockForTheLastAttempt ==
    [t \in Threads |->
        CASE t = "a" -> Reading("state", State \o Do("watch", "op1") \o Under("op1", State))
          [] t = "b" -> Writing("state")
          [] t = "c" -> <<[do |-> "find", of |-> "op1", skip |-> 4]>> \o Under("op1", State)]

-----------------------------------------------------------------------------
(* Mistakes in the locks themselves *)

\* Readers do not ask whether somebody writes.
ReadAmongWriters(t) ==
    /\ Now(t, "read")
    /\ reading' = [reading EXCEPT ![Of(t)][t] = @ + 1]
    /\ Go(t, 1)
    /\ UNCHANGED <<holders, queued, watched>>

\* A writer that has got its lock still counts as waiting.
StaysQueued(t) ==
    /\ Now(t, "write")
    /\ Free(Of(t), t)
    /\ ~ReadByOthers(Of(t), t)
    /\ Acquire(t, Of(t))
    /\ Go(t, 1)
    /\ UNCHANGED <<reading, queued, watched>>
\* A writer waits also for a lock that is free.
QueueAlways(t) ==
    /\ Now(t, "write")
    /\ [of |-> Of(t), by |-> t] \notin queued
    /\ queued' = queued \cup {[of |-> Of(t), by |-> t]}
    /\ UNCHANGED <<holders, reading, watched, pc>>

\* A writer queues for a lock that it could have.
QueueAnyway(t) ==
    LET l == Of(t) IN
    /\ Now(t, "write")
    /\ [of |-> l, by |-> t] \notin queued
    /\ queued' = queued \cup {[of |-> l, by |-> t]}
    /\ UNCHANGED <<holders, reading, watched, pc>>

\* A new reader does not wait while a writer waits.
ReadBeforeWriters(t) ==
    /\ Now(t, "read")
    /\ Free(Of(t), t)
    /\ reading' = [reading EXCEPT ![Of(t)][t] = @ + 1]
    /\ Go(t, 1)
    /\ UNCHANGED <<holders, queued, watched>>
=============================================================================
