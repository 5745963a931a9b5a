--------------------------- MODULE ConditionClaims ---------------------------
(***************************************************************************)
(* A condition whose waits can be interrupted and run out of time: what    *)
(* comes first claims the waiter, so no notification is spent on a wait    *)
(* that ends for another reason.                                           *)
(*                                                                         *)
(* Source.       standard 3.5; wheelproof.sync, which the pool, its        *)
(*               first-come-first-served queue and the results wait with.  *)
(* Abstraction.  Each waiter waits once, and wants no more than to be      *)
(*               notified.  A time-out comes at any time.                  *)
(* Atomicity.    One step for each acquisition and release of the          *)
(*               condition's lock, each change of its queue, each claim,   *)
(*               each waking.  What is done under the lock of a thread's   *)
(*               interrupt status is one step: only that thread and who    *)
(*               interrupts it take that lock.                             *)
(* Fairness.     Weak for each thread, strong for taking the lock.  Nobody *)
(*               need interrupt, and no wait need run out of time.         *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences

CONSTANTS
    Waiters,        \* threads that wait once
    Timed,          \* those of them whose wait may run out of time
    Notifiers,      \* threads that notify one waiter each
    Interrupters,   \* threads that interrupt one
    Victim,         \* interrupter -> that waiter
    None            \* nobody

ASSUME Timed \subseteq Waiters
ASSUME Victim \in [Interrupters -> Waiters]

VARIABLES
    lock,           \* the thread that holds the condition's lock
    queue,          \* the waiters in the condition's queue
    claims,         \* waiter -> who has claimed its wait: "notified", "interrupted", "timed_out"
    woken,          \* the waiters whose sleep has been ended
    requested,      \* the waiters that have been interrupted and have not noticed
    registered,     \* the waiters that an interruption wakes
    result,         \* waiter -> how its wait has ended
    hand,           \* notifier -> the waiter that it has taken from the queue
    pc              \* thread -> its next step

vars == <<lock, queue, claims, woken, requested, registered, result, hand, pc>>

Threads == Waiters \cup Notifiers \cup Interrupters

Range(sequence) == {sequence[i] : i \in DOMAIN sequence}

Go(t, step) == pc' = [pc EXCEPT ![t] = step]

Init ==
    /\ lock = None
    /\ queue = <<>>
    /\ claims = [w \in Waiters |-> {}]
    /\ woken = {}
    /\ requested = {}
    /\ registered = {}
    /\ result = [w \in Waiters |-> "none"]
    /\ hand = [n \in Notifiers |-> None]
    /\ pc = [t \in Threads |-> IF t \in Interrupters THEN "Interrupt" ELSE "Lock"]

-----------------------------------------------------------------------------

IsUnclaimed(w) == claims[w] = {}

\* One claim and no more: the lock that is taken by it is never given back.
Claim(w, reason) == claims' = IF IsUnclaimed(w) THEN [claims EXCEPT ![w] = {reason}] ELSE claims

\* Whether the wait of w has begun before x comes; a model may put waits in an order.
ComesBefore(w, x) == FALSE

HasWaited(w) == pc[w] \in {"Asleep", "Claimed", "Relock", "Leave", "Done"}

Lock(t) ==
    /\ pc[t] = "Lock"
    /\ \A w \in Waiters : ComesBefore(w, t) => HasWaited(w)
    /\ lock = None
    /\ lock' = t
    /\ Go(t, IF t \in Waiters THEN "Enter" ELSE "Pop")
    /\ UNCHANGED <<queue, claims, woken, requested, registered, result, hand>>

\* An interruption that came before ends the wait before it begins.
Enter(w) ==
    /\ pc[w] = "Enter"
    /\ requested' = requested \ {w}
    /\ IF w \in requested
       THEN /\ result' = [result EXCEPT ![w] = "interrupted"]
            /\ Go(w, "Unlock")
            /\ UNCHANGED registered
       ELSE /\ registered' = registered \cup {w}
            /\ Go(w, "Queue")
            /\ UNCHANGED result
    /\ UNCHANGED <<lock, queue, claims, woken, hand>>

Queue(w) ==
    /\ pc[w] = "Queue"
    /\ queue' = Append(queue, w)
    /\ Go(w, "Release")
    /\ UNCHANGED <<lock, claims, woken, requested, registered, result, hand>>

Release(w) ==
    /\ pc[w] = "Release"
    /\ lock' = None
    /\ Go(w, "Asleep")
    /\ UNCHANGED <<queue, claims, woken, requested, registered, result, hand>>

Wake(w) ==
    /\ pc[w] \in {"Asleep", "Claimed"}
    /\ w \in woken
    /\ Go(w, "Relock")
    /\ UNCHANGED <<lock, queue, claims, woken, requested, registered, result, hand>>

\* Out of time, unless somebody has been faster: then whoever that was is about to wake it.
TimeOut(w) ==
    /\ w \in Timed
    /\ pc[w] = "Asleep"
    /\ Claim(w, "timed_out")
    /\ Go(w, IF IsUnclaimed(w) THEN "Relock" ELSE "Claimed")
    /\ UNCHANGED <<lock, queue, woken, requested, registered, result, hand>>

\* Under the lock it leaves the queue, if it is still there.
Relock(w) ==
    /\ pc[w] = "Relock"
    /\ lock = None
    /\ lock' = w
    /\ queue' = SelectSeq(queue, LAMBDA one : one # w)
    /\ Go(w, "Leave")
    /\ UNCHANGED <<claims, woken, requested, registered, result, hand>>

\* An interruption that came after the notification stays for the next wait (3.5).
Leave(w) ==
    /\ pc[w] = "Leave"
    /\ registered' = registered \ {w}
    /\ result' = [result EXCEPT ![w] = CHOOSE reason \in claims[w] : TRUE]
    /\ requested' = IF "interrupted" \in claims[w] THEN requested \ {w} ELSE requested
    /\ Go(w, "Unlock")
    /\ UNCHANGED <<lock, queue, claims, woken, hand>>

Unlock(t) ==
    /\ pc[t] = "Unlock"
    /\ lock' = None
    /\ Go(t, "Done")
    /\ UNCHANGED <<queue, claims, woken, requested, registered, result, hand>>

-----------------------------------------------------------------------------
(* notify, and interrupt *)

Pop(n) ==
    /\ pc[n] = "Pop"
    /\ IF queue = <<>>
       THEN /\ Go(n, "Unlock")
            /\ UNCHANGED <<queue, hand>>
       ELSE /\ hand' = [hand EXCEPT ![n] = Head(queue)]
            /\ queue' = Tail(queue)
            /\ Go(n, "Notify")
    /\ UNCHANGED <<lock, claims, woken, requested, registered, result>>

\* The next one, if the wait of this one is over already.
Notify(n) ==
    /\ pc[n] = "Notify"
    /\ Claim(hand[n], "notified")
    /\ Go(n, IF IsUnclaimed(hand[n]) THEN "WakeWaiter" ELSE "Pop")
    /\ UNCHANGED <<lock, queue, woken, requested, registered, result, hand>>

WakeWaiter(n) ==
    /\ pc[n] = "WakeWaiter"
    /\ woken' = woken \cup {hand[n]}
    /\ Go(n, "Unlock")
    /\ UNCHANGED <<lock, queue, claims, requested, registered, result, hand>>

Interrupt(i) ==
    LET w == Victim[i]
        wakes == w \in registered /\ IsUnclaimed(w)
    IN
    /\ pc[i] = "Interrupt"
    /\ requested' = requested \cup {w}
    /\ claims' = IF wakes THEN [claims EXCEPT ![w] = {"interrupted"}] ELSE claims
    /\ woken' = IF wakes THEN woken \cup {w} ELSE woken
    /\ Go(i, "Done")
    /\ UNCHANGED <<lock, queue, registered, result, hand>>

-----------------------------------------------------------------------------

\* Nobody has anything to do but those who wait for what does not come.
Terminated ==
    /\ \A t \in Threads :
        pc[t] = "Done" \/ (t \in Waiters /\ pc[t] = "Asleep" /\ t \notin woken)
    /\ UNCHANGED vars

WaiterStep(w) == Enter(w) \/ Queue(w) \/ Release(w) \/ Wake(w) \/ Leave(w) \/ Unlock(w)
NotifierStep(n) == Pop(n) \/ Notify(n) \/ WakeWaiter(n) \/ Unlock(n)

Next ==
    \/ \E w \in Waiters : Lock(w) \/ Relock(w) \/ WaiterStep(w)
    \/ \E w \in Waiters : TimeOut(w)
    \/ \E n \in Notifiers : Lock(n) \/ NotifierStep(n)
    \/ \E i \in Interrupters : Interrupt(i)
    \/ Terminated

Fairness ==
    /\ \A w \in Waiters : WF_vars(WaiterStep(w)) /\ SF_vars(Lock(w)) /\ SF_vars(Relock(w))
    /\ \A n \in Notifiers : WF_vars(NotifierStep(n)) /\ SF_vars(Lock(n))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Invariants *)

Reasons == {"notified", "interrupted", "timed_out"}

LockedSteps == {"Enter", "Queue", "Release", "Leave", "Unlock", "Pop", "Notify", "WakeWaiter"}

Steps == LockedSteps \cup {"Lock", "Asleep", "Claimed", "Relock", "Interrupt", "Done"}

TypeOK ==
    /\ lock \in Waiters \cup Notifiers \cup {None}
    /\ queue \in Seq(Waiters)
    /\ claims \in [Waiters -> SUBSET Reasons]
    /\ woken \subseteq Waiters
    /\ requested \subseteq Waiters
    /\ registered \subseteq Waiters
    /\ result \in [Waiters -> Reasons \cup {"none"}]
    /\ hand \in [Notifiers -> Waiters \cup {None}]
    /\ pc \in [Threads -> Steps]

MutualExclusion == \A t \in Threads : pc[t] \in LockedSteps <=> lock = t

WaiterIsClaimedOnce == \A w \in Waiters : Cardinality(claims[w]) <= 1

\* A notification wakes a waiter whose wait returns that it was notified, or there was nobody.
NoNotificationIsSpentInVain ==
    \A n \in Notifiers : pc[n] \in {"WakeWaiter", "Unlock"} /\ hand[n] # None =>
        \/ claims[hand[n]] = {"notified"}
        \/ \A w \in Range(queue) : ~IsUnclaimed(w)

\* An interruption is noticed, or goes on to be there.
NoInterruptionIsLost ==
    \A i \in Interrupters : pc[i] = "Done" =>
        Victim[i] \in requested \/ result[Victim[i]] = "interrupted"

\* The queue has whoever waits and nobody else.
QueueHasWhoeverWaits ==
    lock = None => \A w \in Waiters :
        /\ w \in Range(queue) => pc[w] \in {"Asleep", "Claimed", "Relock"}
        /\ pc[w] = "Asleep" /\ IsUnclaimed(w) => w \in Range(queue)

\* An interruption wakes whoever is registered.
WhoeverWaitsIsRegistered ==
    registered = {w \in Waiters :
        pc[w] \in {"Queue", "Release", "Asleep", "Claimed", "Relock", "Leave"}}

WaitEndsAsItWasClaimed ==
    \A w \in Waiters : result[w] # "none" =>
        claims[w] = {result[w]} \/ (claims[w] = {} /\ result[w] = "interrupted")

\* Nobody is told that it was notified, or interrupted, unless somebody did that.
EveryClaimHasACause ==
    \A w \in Waiters :
        /\ "timed_out" \in claims[w] => w \in Timed
        /\ "notified" \in claims[w] => \E n \in Notifiers : hand[n] = w
        /\ "interrupted" \in claims[w] =>
            \E i \in Interrupters : Victim[i] = w /\ pc[i] = "Done"

(* Action property *)

\* Rule 3.5: a notification goes to whoever has waited longest, of those whose wait is not over.
NotificationsGoToTheLongestWaiting ==
    [][\A w, x \in Waiters :
        ComesBefore(w, x) /\ IsUnclaimed(x) /\ claims'[x] = {"notified"} =>
            ~IsUnclaimed(w) \/ pc[w] = "Done"]_vars

(* Liveness *)

WhoeverIsClaimedReturns == \A w \in Waiters : ~IsUnclaimed(w) ~> pc[w] = "Done"
=============================================================================
