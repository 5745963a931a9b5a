-------------------------- MODULE MaybeTryComplete --------------------------
(***************************************************************************)
(* How several threads try to complete one delayed operation: threads that *)
(* made an event happen and trigger it, the timer's thread when the time   *)
(* is out, and strangers that hold the operation's lock for other ends.    *)
(*                                                                         *)
(* Source.       standard 2.1 - 2.3, 2.5, 2.7, and the version table;      *)
(*               KAFKA-385, 6653, 8334, 19312.                             *)
(* Kafka.        DelayedOperation: maybeTryComplete (1.0 - 2.6),           *)
(*               safeTryComplete, safeTryCompleteOrElse, tryComplete,      *)
(*               forceComplete, tryCompletePending, run.                   *)
(* Abstraction.  No watch lists: every trigger finds the operation.  The   *)
(*               predicate counts events, and holds after enough of them.  *)
(*               Taking the time-out back is left out.                     *)
(* Atomicity.    One step for each acquisition and release of the          *)
(*               operation's lock (a try_lock that fails, too), each read  *)
(*               and write of its state and of `try_complete_pending`,     *)
(*               each event, each test of the predicate, each callback.  A *)
(*               lock that its thread holds already is not taken again.    *)
(* Disciplines.  "monitor": 0.9 - 0.11.0, the operation's monitor.         *)
(*               "try_lock_once": 1.0, whoever finds the lock taken gives  *)
(*               up.  "try_lock_pending": 1.1 - 2.6, it leaves a flag.     *)
(*               "blocking": 4.0, it waits; 2.7 - 3.9 do as a monitor.     *)
(*               "exclusive": after KAFKA-19312, it waits, and so does     *)
(*               whoever completes the operation for another reason.       *)
(* Fairness.     Weak, for each thread, and strong for taking the lock:    *)
(*               nobody who waits for it is passed over for ever.  An      *)
(*               operation need not expire, nobody need hold the lock, and *)
(*               a Stubborn holder need not let go.                        *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
    Discipline,     \* which one: see above
    Triggers,       \* threads that make an event happen and trigger the operation
    Needed,         \* the predicate holds after so many events
    Restless,       \* those of them that trigger it again and again until it has ended
    Raising,        \* those of them whose test of the predicate may raise an error
    Holders,        \* threads that take the operation's lock and are not here to complete it
    Stubborn,       \* those of them that need not let go
    Timers,         \* the thread that runs the operation when its time is out: one at most
    None            \* nobody, nothing

Disciplines == {"monitor", "try_lock_once", "try_lock_pending", "blocking", "exclusive"}

ASSUME Discipline \in Disciplines
ASSUME Needed \in Nat \ {0}
ASSUME Restless \subseteq Triggers
ASSUME Raising \subseteq Triggers
ASSUME Stubborn \subseteq Holders
ASSUME Cardinality(Timers) <= 1
ASSUME Triggers \cap Holders = {} /\ Triggers \cap Timers = {} /\ Holders \cap Timers = {}

VARIABLES
    lock,           \* the thread that holds the operation's lock or monitor
    state,          \* the operation's state: "pending" or "completed"
    pending,        \* its `try_complete_pending`; only "try_lock_pending" uses it
    events,         \* how many events have happened
    answers,        \* how often on_complete has run
    expirations,    \* how often on_expiration has run
    pc,             \* thread -> its next step
    retry,          \* trigger -> whether it has been asked to try again
    ender,          \* history: the thread that completed the operation
    owed            \* history: the triggers whose event no test of the predicate has seen yet

vars == <<lock, state, pending, events, answers, expirations, pc, retry, ender, owed>>

Threads == Triggers \cup Holders \cup Timers

Waits == Discipline \in {"monitor", "blocking", "exclusive"}

Go(t, label) == pc' = [pc EXCEPT ![t] = label]

Done == state # "pending"

Holds == events >= Needed

\* Where force_complete begins.
ForceStart == IF Discipline = "exclusive" THEN "ForceIsDone" ELSE "ForceComplete"

Init ==
    /\ lock = None
    /\ state = "pending"
    /\ pending = FALSE
    /\ events = 0
    /\ answers = 0
    /\ expirations = 0
    /\ pc = [t \in Threads |->
            CASE t \in Triggers -> "MakeTrue"
              [] t \in Holders -> "Hold"
              [] t \in Timers -> ForceStart]
    /\ retry = [t \in Triggers |-> FALSE]
    /\ ender = None
    /\ owed = {}

-----------------------------------------------------------------------------
(* What happens before the attempt, and where it ends *)

\* The caller makes its part of the predicate true, and triggers afterwards (2.6).
MakeTrue(t) ==
    /\ pc[t] = "MakeTrue"
    /\ events' = events + 1
    /\ owed' = owed \cup {t}
    /\ Go(t, "IsDone")
    /\ UNCHANGED <<lock, state, pending, answers, expirations, retry, ender>>

\* The call returns.
End(t) == IF t \in Restless THEN "IsDone" ELSE "Done"

\* Whoever is refused gives the lock back if it has it.
Refused(t) == IF lock = t THEN "Unlock" ELSE "Done"

\* The state is read in four places: by the walk before the lock is taken (2.7), by
\* safe_try_complete under the lock, by maybe_try_complete before it goes round again, and by
\* force_complete.
IsDone(t) ==
    /\ \/ /\ pc[t] = "IsDone"
          /\ Go(t, IF Done THEN "Done" ELSE IF Waits THEN "Lock" ELSE "TryLock")
       \/ /\ pc[t] = "IsDoneUnderLock"
          /\ Go(t, IF Done THEN "Unlock" ELSE "TryComplete")
       \/ /\ pc[t] = "IsDoneAgain"
          /\ Go(t, IF Done \/ ~retry[t] THEN End(t) ELSE "TryLock")
       \/ /\ pc[t] = "ForceIsDone"
          /\ Go(t, IF Done THEN Refused(t) ELSE IF lock = t THEN "ForceComplete" ELSE "ForceLock")
    /\ retry' = IF t \in Triggers THEN [retry EXCEPT ![t] = FALSE] ELSE retry
    /\ UNCHANGED <<lock, state, pending, events, answers, expirations, ender, owed>>

-----------------------------------------------------------------------------
(* safe_try_complete and force_complete of the disciplines that wait for the lock *)

\* Only completion by others looks again by its compare-and-set.
Lock(t) ==
    /\ pc[t] \in {"Lock", "ForceLock"}
    /\ lock = None
    /\ lock' = t
    /\ Go(t, CASE pc[t] = "ForceLock" -> "ForceComplete"
               [] Discipline = "monitor" -> "TryComplete"
               [] OTHER -> "IsDoneUnderLock")
    /\ UNCHANGED <<state, pending, events, answers, expirations, retry, ender, owed>>

-----------------------------------------------------------------------------
(* maybe_try_complete: the disciplines that try the lock (2.5) *)

TryLock(t) ==
    LET won == lock = None IN
    /\ pc[t] = "TryLock"
    /\ lock' = IF won THEN t ELSE lock
    /\ Go(t, IF Discipline = "try_lock_once"
             THEN IF won THEN "TryComplete" ELSE End(t)
             ELSE IF won THEN "ClearPending" ELSE "SetPending")
    /\ UNCHANGED <<state, pending, events, answers, expirations, retry, ender, owed>>

ClearPending(t) ==
    /\ pc[t] = "ClearPending"
    /\ pending' = FALSE
    /\ Go(t, "TryComplete")
    /\ UNCHANGED <<lock, state, events, answers, expirations, retry, ender, owed>>

\* Who finds the flag set may leave: whoever set it tries again.
SetPending(t) ==
    /\ pc[t] = "SetPending"
    /\ pending' = TRUE
    /\ retry' = [retry EXCEPT ![t] = ~pending]
    /\ Go(t, "IsDoneAgain")
    /\ UNCHANGED <<lock, state, events, answers, expirations, ender, owed>>

ReadPending(t) ==
    /\ pc[t] = "ReadPending"
    /\ retry' = [retry EXCEPT ![t] = pending]
    /\ Go(t, "IsDoneAgain")
    /\ UNCHANGED <<lock, state, pending, events, answers, expirations, ender, owed>>

-----------------------------------------------------------------------------
(* try_complete (2.3), under the operation's lock *)

TryComplete(t) ==
    /\ pc[t] = "TryComplete"
    /\ owed' = {}
    /\ Go(t, IF Holds THEN ForceStart ELSE "Unlock")
    /\ UNCHANGED <<lock, state, pending, events, answers, expirations, retry, ender>>

\* The caller gets the error, so it knows that its event was not seen.
TryCompleteRaises(t) ==
    /\ t \in Raising
    /\ pc[t] = "TryComplete"
    /\ owed' = owed \ {t}
    /\ Go(t, "UnlockAndRaise")
    /\ UNCHANGED <<lock, state, pending, events, answers, expirations, retry, ender>>

Unlock(t) ==
    /\ pc[t] \in {"Unlock", "UnlockAndRaise"}
    /\ lock' = None
    /\ Go(t, CASE pc[t] = "UnlockAndRaise" -> "Done"
               [] t \in Timers -> IF ender = t THEN "OnExpiration" ELSE "Done"
               [] Discipline = "try_lock_pending" -> "ReadPending"
               [] OTHER -> End(t))
    /\ UNCHANGED <<state, pending, events, answers, expirations, retry, ender, owed>>

-----------------------------------------------------------------------------
(* Completion (2.1, 2.2), by a trigger or by the timer's thread *)

\* The compare-and-set decides.
ForceComplete(t) ==
    /\ pc[t] = "ForceComplete"
    /\ IF Done
       THEN /\ Go(t, Refused(t))
            /\ UNCHANGED <<state, ender>>
       ELSE /\ state' = "completed"
            /\ ender' = t
            /\ Go(t, "OnComplete")
    /\ UNCHANGED <<lock, pending, events, answers, expirations, retry, owed>>

OnComplete(t) ==
    /\ pc[t] = "OnComplete"
    /\ answers' = answers + 1
    /\ Go(t, IF lock = t THEN "Unlock" ELSE "OnExpiration")
    /\ UNCHANGED <<lock, state, pending, events, expirations, retry, ender, owed>>

OnExpiration(t) ==
    /\ pc[t] = "OnExpiration"
    /\ expirations' = expirations + 1
    /\ Go(t, "Done")
    /\ UNCHANGED <<lock, state, pending, events, answers, retry, ender, owed>>

-----------------------------------------------------------------------------
(* A lock that was handed in from outside, and those who hold it for other ends (KAFKA-8334) *)

Hold(h) ==
    /\ pc[h] = "Hold"
    /\ lock = None
    /\ lock' = h
    /\ Go(h, "LetGo")
    /\ UNCHANGED <<state, pending, events, answers, expirations, retry, ender, owed>>

LetGo(h) ==
    /\ pc[h] = "LetGo"
    /\ lock' = None
    /\ Go(h, "Done")
    /\ UNCHANGED <<state, pending, events, answers, expirations, retry, ender, owed>>

-----------------------------------------------------------------------------

Attempt(t) ==
    \/ TryLock(t) \/ ClearPending(t) \/ SetPending(t) \/ ReadPending(t)
    \/ TryComplete(t) \/ TryCompleteRaises(t)

Complete(t) == ForceComplete(t) \/ OnComplete(t) \/ OnExpiration(t)

Step(t) == IsDone(t) \/ Unlock(t) \/ Complete(t)

Terminated ==
    /\ \A t \in Threads : pc[t] = "Done"
    /\ UNCHANGED vars

Next ==
    \/ \E t \in Triggers : MakeTrue(t) \/ Lock(t) \/ Attempt(t) \/ Step(t)
    \/ \E t \in Timers : Lock(t) \/ Step(t)
    \/ \E h \in Holders : Hold(h) \/ LetGo(h)
    \/ Terminated

\* The time is out, or it never is.
Expires(t) == pc[t] # ForceStart

Fairness ==
    /\ \A t \in Triggers : WF_vars(MakeTrue(t) \/ Attempt(t) \/ Step(t)) /\ SF_vars(Lock(t))
    /\ \A t \in Timers : WF_vars(Expires(t) /\ Step(t)) /\ SF_vars(Lock(t))
    /\ \A h \in Holders \ Stubborn : WF_vars(LetGo(h))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Invariants *)

Labels ==
    {"MakeTrue", "IsDone", "IsDoneUnderLock", "IsDoneAgain", "ForceIsDone", "Lock", "ForceLock",
     "TryLock", "ClearPending", "SetPending", "ReadPending", "TryComplete", "Unlock",
     "UnlockAndRaise", "ForceComplete", "OnComplete", "OnExpiration", "Hold", "LetGo", "Done"}

TypeOK ==
    /\ lock \in Threads \cup {None}
    /\ state \in {"pending", "completed"}
    /\ pending \in BOOLEAN
    /\ events \in 0..Cardinality(Triggers)
    /\ answers \in Nat
    /\ expirations \in Nat
    /\ pc \in [Threads -> Labels]
    /\ retry \in [Triggers -> BOOLEAN]
    /\ ender \in Triggers \cup Timers \cup {None}
    /\ owed \subseteq Triggers

\* on_complete runs once at most.
CompletesAtMostOnce == answers <= 1

\* Who was alone has nothing to try again for (2.5): a wish comes from somebody who was in the way.
AWishNeedsTwo ==
    pending => \E t, u \in Threads \ Timers : t # u /\ {pc[t], pc[u]} \cap {"MakeTrue", "Hold"} = {}

\* on_expiration runs once at most, after on_complete, and only if a time-out completed the
\* operation (2.2).
ExpiresOnlyIfItCompleted ==
    expirations > 0 => expirations = 1 /\ ender \in Timers /\ answers = 1

\* A thread is in try_complete until it returns or enters on_complete.
Tries(t) ==
    /\ t \in Triggers
    /\ pc[t] \in {"TryComplete", "ForceIsDone", "ForceComplete"}

\* No two threads are in try_complete at the same time.
TriesExcludeEachOther == \A t, u \in Threads : Tries(t) /\ Tries(u) => t = u

\* No thread is in try_complete while another one is in on_complete, which may take apart what
\* try_complete reads (KAFKA-19312).
TryCompleteAndOnCompleteExcludeEachOther ==
    ~\E t, u \in Threads : Tries(t) /\ pc[u] = "OnComplete"

-----------------------------------------------------------------------------
(* Action property *)

\* No try_complete begins once the operation is completed (2.3, 2.7).
NoTryBeginsAfterCompletion ==
    [][\A t \in Triggers : ~Tries(t) /\ Tries(t)' => ~Done']_vars

-----------------------------------------------------------------------------
(* Liveness *)

\* Or the operation has been completed meanwhile.
EveryTriggerIsFollowedByAFreshCheck ==
    \A t \in Triggers : t \in owed ~> t \notin owed \/ Done

CallsEnd == \A t \in Triggers \ Restless : <>(pc[t] = "Done")

ExpiryEnds == \A t \in Timers : pc[t] # ForceStart ~> pc[t] = "Done"

CompletedIsAnswered == Done ~> answers > 0

-----------------------------------------------------------------------------
(* Refinement: the operation is there from the beginning *)

AbstractOperation == INSTANCE DelayedOperation WITH
    Operations <- {"op"},
    outcome <- [op \in {"op"} |->
        IF ~Done THEN "pending" ELSE IF ender \in Timers THEN "expired" ELSE "completed"],
    holds <- IF Holds THEN {"op"} ELSE {},
    answers <- [op \in {"op"} |-> answers],
    expirations <- [op \in {"op"} |-> expirations]

\* With its promise that what holds is completed without waiting for the time-out.
RefinesDelayedOperation == AbstractOperation!Spec

RefinesItsSafety == AbstractOperation!Safe

THEOREM Spec => RefinesItsSafety
=============================================================================
