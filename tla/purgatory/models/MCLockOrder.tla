---------------------------- MODULE MCLockOrder ----------------------------
(* LockOrder with the calls of the purgatory, and users that hold locks of their own around them. *)
EXTENDS LockOrder

CONSTANT Discipline     \* as in MaybeTryComplete, but that both which try the lock are "try_lock"

Do(do, of) == <<[do |-> do, of |-> of]>>

Under(lock, steps) == Do("lock", lock) \o steps \o Do("unlock", lock)

Reading(lock, steps) == Do("read", lock) \o steps \o Do("unread", lock)

Writing(lock) == Do("write", lock) \o Do("unwrite", lock)

Tries == Discipline = "try_lock"

\* safe_try_complete: the predicate or the callback takes further locks.  To try again because of
\* the flag is left out: it is the same once more.
Attempt(op, steps) ==
    IF Tries
    THEN <<[do |-> "try", of |-> op, skip |-> Len(steps) + 1]>> \o steps \o Do("unlock", op)
    ELSE Under(op, steps)

\* force_complete by the timer's thread.
Expiry(op, steps) == IF Discipline = "exclusive" THEN Under(op, steps) ELSE steps

\* The locks of the lists are held for a moment.
Touch(op) == Under("shard", Under("list", <<>>))

\* check_and_complete that finds op once it is watched.
Check(op, steps) ==
    Under("shard", <<>>)
        \o <<[do |-> "find", of |-> op, skip |-> Len(Attempt(op, steps))]>> \o Attempt(op, steps)
        \o Touch(op)

\* try_complete_else_watch; the predicate takes and releases `steps`.
TryElseWatch(op, steps) ==
    IF Discipline \in {"blocking", "exclusive"}
    THEN Under(op, steps \o Touch(op) \o Do("watch", op) \o steps)
    ELSE steps \o Touch(op) \o Do("watch", op) \o Attempt(op, steps)

-----------------------------------------------------------------------------
(* Who does what.  "state" is a read-write lock of the users, "group1" and "group2" are locks *)

State == Reading("state", <<>>)

\* A watcher inside the read side, a trigger, a writer, an expiry whose callback reads the state.
Users ==
    [t \in Threads |->
        CASE t = "a" -> Reading("state", TryElseWatch("op1", State))
          [] t = "b" -> Writing("state")
          [] t = "c" -> Check("op1", State)
          [] t = "e" -> <<[do |-> "find", of |-> "op1", skip |-> Len(Expiry("op1", State))]>>
                            \o Expiry("op1", State)]

\* Two triggers; each operation's callback triggers the other one.
Callbacks ==
    [t \in Threads |->
        IF t = "a"
        THEN Attempt("op1", Attempt("op2", <<>>))
        ELSE Attempt("op2", Attempt("op1", <<>>))]

\* The same, but that one of the two has expired.
ExpiryCallback ==
    [t \in Threads |->
        IF t = "e"
        THEN Expiry("op1", Attempt("op2", <<>>))
        ELSE Attempt("op2", Attempt("op1", <<>>))]

-----------------------------------------------------------------------------
(* Things that must be reachable, or the claims would say nothing *)

\* A reader waits behind a writer that waits.
WitnessReaderBehindWriter ==
    ~\E t \in Threads : Now(t, "read") /\ \E w \in queued : w.of = Of(t) /\ reading[Of(t)][t] = 0

\* Somebody waits for an operation's lock, and its holder waits for a reader to leave.
WitnessChain ==
    ~(\E t \in Threads : Now(t, "lock") /\ ~Free(Of(t), t) /\ queued # {})

\* A lock is taken again by its holder.
WitnessReentrant == \A l \in Locks : \A t \in Threads : reading[l][t] < 2

WitnessFound == ~\E t \in Threads : Now(t, "find") /\ Of(t) \in watched
=============================================================================
