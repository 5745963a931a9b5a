--------------------------- MODULE EntryMigration ---------------------------
(***************************************************************************)
(* How entries move between buckets while other threads cancel them.       *)
(*                                                                         *)
(* Source.       standard 1.2, 1.6, 1.10 - 1.14, 1.18.                     *)
(* Kafka.        TimerTaskList: add, remove, flush; TimerTaskEntry: list,  *)
(*               cancelled, remove; TimerTask: setTimerTaskEntry, cancel.  *)
(* Abstraction.  No clock, no queue, no read-write lock.  A flusher takes  *)
(*               whichever bucket is not empty, in any order; where its    *)
(*               entries go is fixed by Below.  Adders may run while a     *)
(*               bucket is flushed, which the timer's lock would forbid:   *)
(*               the buckets alone must cope.  Movers call list.add on an  *)
(*               entry that may be in another list: what a bucket promises *)
(*               (1.13), though the timer never asks for it.               *)
(* Atomicity.    One step for each acquisition and release of a monitor,   *)
(*               each read and write of an entry's `list`, of a task's     *)
(*               binding and of the counter.  The links are plain fields,  *)
(*               so they change together with the operation before them.   *)
(*               A monitor that its thread holds already is not taken      *)
(*               again: the flusher's remove begins with the entry.        *)
(* Fairness.     Weak, for each thread: no thread runs for ever, so no     *)
(*               monitor is taken from a waiting thread infinitely often.  *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences

CONSTANTS
    Entries,        \* the entries; each is added once by an adder
    Tasks,          \* the tasks
    TaskOf,         \* entry -> its task
    Buckets,        \* the buckets, which also stand for the roots of their lists
    Below,          \* bucket -> the bucket that its entries go to when flushed, or Expired
    Adders,         \* threads that add an entry to the timer
    Movers,         \* threads that put an entry into a bucket
    EntryOf,        \* adder or mover -> its entry
    BucketOf,       \* adder or mover -> the bucket that it adds to, or Expired
    Cancellers,     \* threads that cancel a task
    Victim,         \* canceller -> its task
    Flushers,       \* threads that flush buckets: at most one, for the write lock excludes others
    Expired,        \* the place of an entry that is due: submitted, not linked
    None            \* nobody, nothing

ASSUME TaskOf \in [Entries -> Tasks]
ASSUME Below \in [Buckets -> Buckets \cup {Expired}]
ASSUME EntryOf \in [Adders \cup Movers -> Entries]
ASSUME BucketOf \in [Adders \cup Movers -> Buckets \cup {Expired}]
ASSUME Victim \in [Cancellers -> Tasks]
ASSUME Cardinality(Flushers) <= 1

VARIABLES
    taskMonitor,    \* task -> the thread that holds its monitor
    bucketMonitor,  \* bucket -> the thread that holds its monitor
    entryMonitor,   \* entry -> the thread that holds its monitor
    bound,          \* task -> the entry that it is bound to
    list,           \* entry -> the bucket that its `list` names
    next,           \* entry or root -> the following one; None while unlinked
    prev,           \* entry or root -> the one before; None while unlinked
    counter,        \* the timer's task counter
    pc,             \* thread -> its next step
    at,             \* thread -> the entry that it works on
    holder,         \* thread -> the bucket that it removes from
    target,         \* thread -> the bucket that it adds to
    tail,           \* thread -> the last entry of its target, as it was read under the monitors
    back,           \* thread -> its step after the removal under way
    flushing,       \* flusher -> the bucket whose monitor it holds
    outcome,        \* history: task -> what ended its last add that has ended
    submissions,    \* history: entry -> how often it was submitted
    withdrawn,      \* history: the entries for which a cancel has returned TRUE
    replaced,       \* history: the entries that a later add unbound
    doomed          \* history: the entries that were cancelled when the flush of their bucket began

monitors == <<taskMonitor, bucketMonitor, entryMonitor>>
links == <<list, next, prev, counter>>
registers == <<at, holder, target, tail, back, flushing>>
history == <<outcome, submissions, withdrawn, replaced, doomed>>
vars == <<monitors, bound, links, pc, registers, history>>

Threads == Adders \cup Movers \cup Cancellers \cup Flushers
Nodes == Entries \cup Buckets

Go(t, step) == pc' = [pc EXCEPT ![t] = step]

Bound(e) == bound[TaskOf[e]] = e

-----------------------------------------------------------------------------

Init ==
    /\ taskMonitor = [k \in Tasks |-> None]
    /\ bucketMonitor = [b \in Buckets |-> None]
    /\ entryMonitor = [e \in Entries |-> None]
    /\ bound = [k \in Tasks |-> None]
    /\ list = [e \in Entries |-> None]
    /\ next = [n \in Nodes |-> IF n \in Buckets THEN n ELSE None]
    /\ prev = [n \in Nodes |-> IF n \in Buckets THEN n ELSE None]
    /\ counter = 0
    /\ pc = [t \in Threads |->
            CASE t \in Adders -> "BindLock"
              [] t \in Movers -> "RemoveReadList"
              [] t \in Cancellers -> "CancelLock"
              [] t \in Flushers -> "Poll"]
    /\ at = [t \in Threads |-> IF t \in Adders \cup Movers THEN EntryOf[t] ELSE None]
    /\ holder = [t \in Threads |-> None]
    /\ target = [t \in Threads |-> IF t \in Movers THEN BucketOf[t] ELSE None]
    /\ tail = [t \in Threads |-> None]
    /\ back = [t \in Threads |-> IF t \in Movers THEN "AddLockList" ELSE None]
    /\ flushing = [t \in Flushers |-> None]
    /\ outcome = [k \in Tasks |-> "idle"]
    /\ submissions = [e \in Entries |-> 0]
    /\ withdrawn = {}
    /\ replaced = {}
    /\ doomed = {}

-----------------------------------------------------------------------------
(* What follows the handling of an entry: the end of a thread, or the flusher's next entry, which *)
(* it reads together with the operation before.                                                   *)

TakeHead(f, b) ==
    IF next[b] = b
    THEN /\ Go(f, "FlushUnlock")
         /\ at' = [at EXCEPT ![f] = None]
         /\ holder' = [holder EXCEPT ![f] = None]
    ELSE /\ Go(f, "RemoveLockEntry")
         /\ at' = [at EXCEPT ![f] = next[b]]
         /\ holder' = [holder EXCEPT ![f] = b]

Finish(t) ==
    IF t \in Flushers
    THEN TakeHead(t, flushing[t])
    ELSE /\ Go(t, "Done")
         /\ at' = [at EXCEPT ![t] = None]
         /\ UNCHANGED holder

-----------------------------------------------------------------------------
(* TimerTask.set_timer_task_entry (1.2 b, 1.12) *)

BindLock(a) ==
    LET k == TaskOf[EntryOf[a]] IN
    /\ pc[a] = "BindLock"
    /\ taskMonitor[k] = None
    /\ taskMonitor' = [taskMonitor EXCEPT ![k] = a]
    /\ Go(a, "BindSwap")
    /\ UNCHANGED <<bucketMonitor, entryMonitor, bound, links, registers, history>>

\* The older entry is taken out of its bucket before the monitor is given back.
BindSwap(a) ==
    LET e == EntryOf[a]
        older == bound[TaskOf[e]]
    IN
    /\ pc[a] = "BindSwap"
    /\ bound' = [bound EXCEPT ![TaskOf[e]] = e]
    /\ IF older = None
       THEN /\ Go(a, "BindUnlock")
            /\ UNCHANGED <<at, back, replaced>>
       ELSE /\ Go(a, "RemoveReadList")
            /\ at' = [at EXCEPT ![a] = older]
            /\ back' = [back EXCEPT ![a] = "BindUnlock"]
            /\ replaced' = replaced \cup {older}
    /\ UNCHANGED <<monitors, links, holder, target, tail, flushing, outcome, submissions,
                   withdrawn, doomed>>

BindUnlock(a) ==
    /\ pc[a] = "BindUnlock"
    /\ taskMonitor' = [taskMonitor EXCEPT ![TaskOf[EntryOf[a]]] = None]
    /\ at' = [at EXCEPT ![a] = EntryOf[a]]
    /\ Go(a, "TestCancelled")
    /\ UNCHANGED <<bucketMonitor, entryMonitor, bound, links, holder, target, tail, back,
                   flushing, history>>

-----------------------------------------------------------------------------
(* TimingWheel.add as far as an entry is concerned (1.3), for adders and the flusher *)

Destination(t) == IF t \in Flushers THEN Below[flushing[t]] ELSE BucketOf[t]

TestCancelled(t) ==
    /\ pc[t] = "TestCancelled"
    /\ IF Bound(at[t]) /\ Destination(t) # Expired
       THEN /\ Go(t, "RemoveReadList")
            /\ target' = [target EXCEPT ![t] = Destination(t)]
            /\ back' = [back EXCEPT ![t] = "AddLockList"]
       ELSE /\ Go(t, "Claim")
            /\ UNCHANGED <<target, back>>
    /\ UNCHANGED <<monitors, bound, links, at, holder, tail, flushing, history>>

\* Tried also for a cancelled entry: then it fails.
Claim(t) ==
    LET k == TaskOf[at[t]] IN
    /\ pc[t] = "Claim"
    /\ IF bound[k] = at[t]
       THEN /\ bound' = [bound EXCEPT ![k] = None]
            /\ outcome' = [outcome EXCEPT ![k] = "submitted"]
            /\ Go(t, "Submit")
            /\ UNCHANGED <<at, holder>>
       ELSE /\ Finish(t)
            /\ UNCHANGED <<bound, outcome>>
    /\ UNCHANGED <<monitors, links, target, tail, back, flushing, submissions, withdrawn,
                   replaced, doomed>>

Submit(t) ==
    /\ pc[t] = "Submit"
    /\ submissions' = [submissions EXCEPT ![at[t]] = @ + 1]
    /\ Finish(t)
    /\ UNCHANGED <<monitors, bound, links, target, tail, back, flushing, outcome, withdrawn,
                   replaced, doomed>>

-----------------------------------------------------------------------------
(* TimerTaskList.add (1.13); it begins with entry.remove(), below *)

AddLockList(t) ==
    /\ pc[t] = "AddLockList"
    /\ bucketMonitor[target[t]] = None
    /\ bucketMonitor' = [bucketMonitor EXCEPT ![target[t]] = t]
    /\ Go(t, "AddLockEntry")
    /\ UNCHANGED <<taskMonitor, entryMonitor, bound, links, registers, history>>

AddLockEntry(t) ==
    /\ pc[t] = "AddLockEntry"
    /\ entryMonitor[at[t]] = None
    /\ entryMonitor' = [entryMonitor EXCEPT ![at[t]] = t]
    /\ Go(t, "AddTest")
    /\ UNCHANGED <<taskMonitor, bucketMonitor, bound, links, registers, history>>

\* The entry's own links are set before its list names it.
PrepareLink(t) ==
    LET e == at[t]
        last == prev[target[t]]
    IN
    /\ next' = [next EXCEPT ![e] = target[t]]
    /\ prev' = [prev EXCEPT ![e] = last]
    /\ tail' = [tail EXCEPT ![t] = last]
    /\ Go(t, "AddLink")

AddTest(t) ==
    /\ pc[t] = "AddTest"
    /\ IF list[at[t]] = None
       THEN PrepareLink(t)
       ELSE /\ Go(t, "AddUnlockEntry")
            /\ UNCHANGED <<next, prev, tail>>
    /\ UNCHANGED <<monitors, bound, list, counter, at, holder, target, back, flushing, history>>

AddLink(t) ==
    LET e == at[t] IN
    /\ pc[t] = "AddLink"
    /\ list' = [list EXCEPT ![e] = target[t]]
    /\ next' = [next EXCEPT ![tail[t]] = e]
    /\ prev' = [prev EXCEPT ![target[t]] = e]
    /\ Go(t, "AddCount")
    /\ UNCHANGED <<monitors, bound, counter, registers, history>>

AddCount(t) ==
    /\ pc[t] = "AddCount"
    /\ counter' = counter + 1
    /\ Go(t, "AddUnlockEntry")
    /\ UNCHANGED <<monitors, bound, list, next, prev, registers, history>>

AddUnlockEntry(t) ==
    /\ pc[t] = "AddUnlockEntry"
    /\ entryMonitor' = [entryMonitor EXCEPT ![at[t]] = None]
    /\ Go(t, "AddUnlockList")
    /\ UNCHANGED <<taskMonitor, bucketMonitor, bound, links, registers, history>>

\* Without a tail nothing was linked: another thread was faster, so the entry is removed again.
AddUnlockList(t) ==
    /\ pc[t] = "AddUnlockList"
    /\ bucketMonitor' = [bucketMonitor EXCEPT ![target[t]] = None]
    /\ IF tail[t] = None
       THEN /\ Go(t, "RemoveReadList")
            /\ back' = [back EXCEPT ![t] = "AddLockList"]
            /\ UNCHANGED <<at, holder, target, tail>>
       ELSE /\ Finish(t)
            /\ target' = [target EXCEPT ![t] = None]
            /\ tail' = [tail EXCEPT ![t] = None]
            /\ UNCHANGED back
    /\ UNCHANGED <<taskMonitor, entryMonitor, bound, links, flushing, history>>

-----------------------------------------------------------------------------
(* TimerTaskEntry.remove and TimerTaskList.remove (1.10, 1.13, KAFKA-2226) *)

RemoveReadList(t) ==
    /\ pc[t] = "RemoveReadList"
    /\ IF list[at[t]] = None
       THEN /\ Go(t, back[t])
            /\ back' = [back EXCEPT ![t] = None]
            /\ UNCHANGED holder
       ELSE /\ Go(t, "RemoveLockList")
            /\ holder' = [holder EXCEPT ![t] = list[at[t]]]
            /\ UNCHANGED back
    /\ UNCHANGED <<monitors, bound, links, at, target, tail, flushing, history>>

RemoveLockList(t) ==
    /\ pc[t] = "RemoveLockList"
    /\ bucketMonitor[holder[t]] = None
    /\ bucketMonitor' = [bucketMonitor EXCEPT ![holder[t]] = t]
    /\ Go(t, "RemoveLockEntry")
    /\ UNCHANGED <<taskMonitor, entryMonitor, bound, links, registers, history>>

RemoveLockEntry(t) ==
    /\ pc[t] = "RemoveLockEntry"
    /\ entryMonitor[at[t]] = None
    /\ entryMonitor' = [entryMonitor EXCEPT ![at[t]] = t]
    /\ Go(t, "RemoveTest")
    /\ UNCHANGED <<taskMonitor, bucketMonitor, bound, links, registers, history>>

\* Closes the gap that e leaves, and takes its own links away.
Unlink(e) ==
    /\ next' = [next EXCEPT ![prev[e]] = next[e], ![e] = None]
    /\ prev' = [prev EXCEPT ![next[e]] = prev[e], ![e] = None]

RemoveTest(t) ==
    /\ pc[t] = "RemoveTest"
    /\ IF list[at[t]] = holder[t]
       THEN /\ Unlink(at[t])
            /\ Go(t, "RemoveClear")
       ELSE /\ Go(t, "RemoveUnlockEntry")
            /\ UNCHANGED <<next, prev>>
    /\ UNCHANGED <<monitors, bound, list, counter, registers, history>>

RemoveClear(t) ==
    /\ pc[t] = "RemoveClear"
    /\ list' = [list EXCEPT ![at[t]] = None]
    /\ Go(t, "RemoveCount")
    /\ UNCHANGED <<monitors, bound, next, prev, counter, registers, history>>

RemoveCount(t) ==
    /\ pc[t] = "RemoveCount"
    /\ counter' = counter - 1
    /\ Go(t, "RemoveUnlockEntry")
    /\ UNCHANGED <<monitors, bound, list, next, prev, registers, history>>

\* The flusher keeps the monitor of the bucket.
RemoveUnlockEntry(t) ==
    /\ pc[t] = "RemoveUnlockEntry"
    /\ entryMonitor' = [entryMonitor EXCEPT ![at[t]] = None]
    /\ IF t \in Flushers /\ holder[t] = flushing[t]
       THEN /\ Go(t, "TestCancelled")
            /\ holder' = [holder EXCEPT ![t] = None]
       ELSE /\ Go(t, "RemoveUnlockList")
            /\ UNCHANGED holder
    /\ UNCHANGED <<taskMonitor, bucketMonitor, bound, links, at, target, tail, back, flushing,
                   history>>

RemoveUnlockList(t) ==
    /\ pc[t] = "RemoveUnlockList"
    /\ bucketMonitor' = [bucketMonitor EXCEPT ![holder[t]] = None]
    /\ holder' = [holder EXCEPT ![t] = None]
    /\ Go(t, "RemoveReadList")
    /\ UNCHANGED <<taskMonitor, entryMonitor, bound, links, at, target, tail, back, flushing,
                   history>>

-----------------------------------------------------------------------------
(* TimerTask.cancel (1.10) *)

CancelLock(c) ==
    /\ pc[c] = "CancelLock"
    /\ taskMonitor[Victim[c]] = None
    /\ taskMonitor' = [taskMonitor EXCEPT ![Victim[c]] = c]
    /\ Go(c, "CancelRead")
    /\ UNCHANGED <<bucketMonitor, entryMonitor, bound, links, registers, history>>

CancelRead(c) ==
    LET e == bound[Victim[c]] IN
    /\ pc[c] = "CancelRead"
    /\ IF e = None
       THEN /\ Go(c, "CancelUnlock")
            /\ UNCHANGED <<at, back>>
       ELSE /\ Go(c, "RemoveReadList")
            /\ at' = [at EXCEPT ![c] = e]
            /\ back' = [back EXCEPT ![c] = "CancelUnbind"]
    /\ UNCHANGED <<monitors, bound, links, holder, target, tail, flushing, history>>

\* Whoever takes the binding away decides.  From here on `at` is the entry that was prevented.
CancelUnbind(c) ==
    LET k == Victim[c] IN
    /\ pc[c] = "CancelUnbind"
    /\ IF bound[k] = at[c]
       THEN /\ bound' = [bound EXCEPT ![k] = None]
            /\ outcome' = [outcome EXCEPT ![k] = "cancelled"]
            /\ UNCHANGED at
       ELSE /\ at' = [at EXCEPT ![c] = None]
            /\ UNCHANGED <<bound, outcome>>
    /\ Go(c, "CancelUnlock")
    /\ UNCHANGED <<monitors, links, holder, target, tail, back, flushing, submissions, withdrawn,
                   replaced, doomed>>

\* Returns TRUE iff it prevented the run.
CancelUnlock(c) ==
    /\ pc[c] = "CancelUnlock"
    /\ taskMonitor' = [taskMonitor EXCEPT ![Victim[c]] = None]
    /\ withdrawn' = withdrawn \cup ({at[c]} \ {None})
    /\ at' = [at EXCEPT ![c] = None]
    /\ Go(c, "Done")
    /\ UNCHANGED <<bucketMonitor, entryMonitor, bound, links, holder, target, tail, back,
                   flushing, outcome, submissions, replaced, doomed>>

-----------------------------------------------------------------------------
(* TimerTaskList.flush (1.6): the bucket's monitor is held throughout *)

\* The entries that are reached from the root of b; stops after as many steps as a sound list has.
RECURSIVE Follow(_, _, _, _)
Follow(link, b, n, steps) ==
    IF n = b \/ n = None \/ steps = 0
    THEN <<>>
    ELSE <<n>> \o Follow(link, b, link[n], steps - 1)

Forward(b) == Follow(next, b, next[b], Cardinality(Entries) + 1)
Backward(b) == Follow(prev, b, prev[b], Cardinality(Entries) + 1)

Range(sequence) == {sequence[i] : i \in DOMAIN sequence}

Linked(e) == \E b \in Buckets : e \in Range(Forward(b))

\* Some bucket with entries in it: what the delay queue would give.
FlushLock(f, b) ==
    /\ pc[f] = "Poll"
    /\ next[b] # b
    /\ bucketMonitor[b] = None
    /\ bucketMonitor' = [bucketMonitor EXCEPT ![b] = f]
    /\ flushing' = [flushing EXCEPT ![f] = b]
    /\ doomed' = doomed \cup {e \in Range(Forward(b)) : ~Bound(e)}
    /\ TakeHead(f, b)
    /\ UNCHANGED <<taskMonitor, entryMonitor, bound, links, target, tail, back, outcome,
                   submissions, withdrawn, replaced>>

FlushUnlock(f) ==
    /\ pc[f] = "FlushUnlock"
    /\ bucketMonitor' = [bucketMonitor EXCEPT ![flushing[f]] = None]
    /\ flushing' = [flushing EXCEPT ![f] = None]
    /\ Go(f, "Poll")
    /\ UNCHANGED <<taskMonitor, entryMonitor, bound, links, at, holder, target, tail, back,
                   history>>

-----------------------------------------------------------------------------

BindStep(a) == BindLock(a) \/ BindSwap(a) \/ BindUnlock(a)

WheelStep(t) == TestCancelled(t) \/ Claim(t) \/ Submit(t)

AddStep(t) ==
    \/ AddLockList(t) \/ AddLockEntry(t) \/ AddTest(t) \/ AddLink(t) \/ AddCount(t)
    \/ AddUnlockEntry(t) \/ AddUnlockList(t)

RemoveStep(t) ==
    \/ RemoveReadList(t) \/ RemoveLockList(t) \/ RemoveLockEntry(t) \/ RemoveTest(t)
    \/ RemoveClear(t) \/ RemoveCount(t) \/ RemoveUnlockEntry(t) \/ RemoveUnlockList(t)

CancelStep(c) == CancelLock(c) \/ CancelRead(c) \/ CancelUnbind(c) \/ CancelUnlock(c)

FlushStep(f) == (\E b \in Buckets : FlushLock(f, b)) \/ FlushUnlock(f)

Adder(a) == BindStep(a) \/ WheelStep(a) \/ AddStep(a) \/ RemoveStep(a)
Mover(m) == AddStep(m) \/ RemoveStep(m)
Canceller(c) == CancelStep(c) \/ RemoveStep(c)
Flusher(f) == FlushStep(f) \/ WheelStep(f) \/ AddStep(f) \/ RemoveStep(f)

\* All threads have ended and nothing is left to flush: the only state without a step.
Terminated ==
    /\ \A t \in Threads \ Flushers : pc[t] = "Done"
    /\ \A f \in Flushers : pc[f] = "Poll"
    /\ \A b \in Buckets : next[b] = b
    /\ UNCHANGED vars

Next ==
    \/ \E a \in Adders : Adder(a)
    \/ \E m \in Movers : Mover(m)
    \/ \E c \in Cancellers : Canceller(c)
    \/ \E f \in Flushers : Flusher(f)
    \/ Terminated

Fairness ==
    /\ \A a \in Adders : WF_vars(Adder(a))
    /\ \A m \in Movers : WF_vars(Mover(m))
    /\ \A c \in Cancellers : WF_vars(Canceller(c))
    /\ \A f \in Flushers : WF_vars(Flusher(f))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
(* Invariants *)

Steps ==
    {"BindLock", "BindSwap", "BindUnlock", "TestCancelled", "Claim", "Submit",
     "AddLockList", "AddLockEntry", "AddTest", "AddLink", "AddCount", "AddUnlockEntry",
     "AddUnlockList", "RemoveReadList", "RemoveLockList", "RemoveLockEntry", "RemoveTest",
     "RemoveClear", "RemoveCount", "RemoveUnlockEntry", "RemoveUnlockList",
     "CancelLock", "CancelRead", "CancelUnbind", "CancelUnlock", "Poll", "FlushUnlock", "Done"}

TypeOK ==
    /\ taskMonitor \in [Tasks -> Threads \cup {None}]
    /\ bucketMonitor \in [Buckets -> Threads \cup {None}]
    /\ entryMonitor \in [Entries -> Threads \cup {None}]
    /\ bound \in [Tasks -> Entries \cup {None}]
    /\ list \in [Entries -> Buckets \cup {None}]
    /\ next \in [Nodes -> Nodes \cup {None}]
    /\ prev \in [Nodes -> Nodes \cup {None}]
    /\ counter \in Int
    /\ pc \in [Threads -> Steps]
    /\ at \in [Threads -> Entries \cup {None}]
    /\ holder \in [Threads -> Buckets \cup {None}]
    /\ target \in [Threads -> Buckets \cup {None}]
    /\ tail \in [Threads -> Nodes \cup {None}]
    /\ back \in [Threads -> {"BindUnlock", "AddLockList", "CancelUnbind", None}]
    /\ flushing \in [Flushers -> Buckets \cup {None}]
    /\ outcome \in [Tasks -> {"idle", "submitted", "cancelled"}]
    /\ submissions \in [Entries -> Nat]
    /\ withdrawn \subseteq Entries
    /\ replaced \subseteq Entries
    /\ doomed \subseteq Entries

EntryInOneListAtMost ==
    \A e \in Entries : Cardinality({b \in Buckets : e \in Range(Forward(b))}) <= 1

\* Each list is a cycle, the same in both directions, of entries that name it; an entry outside
\* all lists has no links, unless it is being linked.
LinksAreConsistent ==
    /\ \A b \in Buckets :
        LET forward == Forward(b)
            backward == Backward(b)
            length == Len(forward)
        IN
        /\ length <= Cardinality(Entries)
        /\ Len(backward) = length
        /\ \A i \in 1..length : forward[i] = backward[length + 1 - i]
        /\ \A i \in 1..length : list[forward[i]] = b
        /\ length > 0 => next[forward[length]] = b /\ prev[backward[length]] = b
    /\ \A e \in Entries :
        ~Linked(e) /\ (next[e] # None \/ prev[e] # None) =>
            \E t \in Threads : pc[t] = "AddLink" /\ at[t] = e

\* Apart from the threads that are about to count what they have linked or unlinked.
CounterEqualsLinkedEntries ==
    counter
        + Cardinality({t \in Threads : pc[t] = "AddCount"})
        - Cardinality({t \in Threads : pc[t] \in {"RemoveClear", "RemoveCount"}})
    = Cardinality({e \in Entries : Linked(e)})

InsideAdd == {"AddTest", "AddLink", "AddCount", "AddUnlockEntry"}
InsideRemove == {"RemoveTest", "RemoveClear", "RemoveCount", "RemoveUnlockEntry"}

InsideBucket(b) ==
    {t \in Threads :
        \/ target[t] = b /\ pc[t] \in InsideAdd \cup {"AddLockEntry", "AddUnlockList"}
        \/ holder[t] = b /\ pc[t] \in InsideRemove \cup {"RemoveLockEntry", "RemoveUnlockList"}
        \/ t \in Flushers /\ flushing[t] = b}

InsideEntry(e) == {t \in Threads : at[t] = e /\ pc[t] \in InsideAdd \cup InsideRemove}

InsideTask(k) ==
    {t \in Adders : TaskOf[EntryOf[t]] = k
        /\ (pc[t] \in {"BindSwap", "BindUnlock"} \/ back[t] = "BindUnlock")}
    \cup {t \in Cancellers : Victim[t] = k /\ pc[t] \notin {"CancelLock", "Done"}}

MutualExclusion ==
    /\ \A b \in Buckets : Cardinality(InsideBucket(b)) <= 1
    /\ \A e \in Entries : Cardinality(InsideEntry(e)) <= 1
    /\ \A k \in Tasks : Cardinality(InsideTask(k)) <= 1

\* Rule 1.15.1: whoever takes a task's monitor has no other one, whoever takes a bucket's has no entry's
\* and no bucket's but the one above it.
LocksNestInOneOrder ==
    [][\A t \in Threads :
        /\ t \in Range(taskMonitor') \ Range(taskMonitor) =>
            t \notin Range(bucketMonitor) \cup Range(entryMonitor)
        /\ \A b \in Buckets : bucketMonitor[b] # t /\ bucketMonitor'[b] = t =>
            /\ t \notin Range(entryMonitor)
            /\ \A c \in Buckets : bucketMonitor[c] = t => Below[c] = b]_vars

SubmittedAtMostOnce == \A e \in Entries : submissions[e] <= 1

CancelledOrSubmittedNotBoth == \A e \in withdrawn : submissions[e] = 0

\* An entry that a later add has unbound was not claimed before, so it is not submitted (1.12).
OnlyTheNewestAddFires == \A e \in replaced : submissions[e] = 0

\* Rule 1.11: a leftover stays until its bucket expires, and goes no further.
LeftoverIsGoneAfterTheFlush ==
    \A e \in doomed : list[e] # None => \E f \in Flushers : flushing[f] = list[e]

-----------------------------------------------------------------------------
(* Action properties *)

\* What cancel achieves (1.10): it goes on only when the entry that it saw is in no list.  Only a
\* thread that has the entry in hand then can put it back: that is a leftover (1.11).
CancelTakesTheEntryOut ==
    [][\A c \in Cancellers :
        pc[c] # "CancelUnbind" /\ pc'[c] = "CancelUnbind" => list[at'[c]] = None]_vars

\* And what an add does to the one before (1.12).
AddTakesTheOlderEntryOut ==
    [][\A a \in Adders :
        LET older == IF pc[a] = "BindSwap" THEN bound[TaskOf[EntryOf[a]]] ELSE at[a] IN
        pc[a] # "BindUnlock" /\ pc'[a] = "BindUnlock" => older = None \/ list[older] = None]_vars

\* Rule 1.13.2: what is linked comes last, and the others keep their order.
NewEntriesGoToTheEnd ==
    [][\A b \in Buckets :
        LET before == Forward(b)
            after == Forward(b)'
            stays == SelectSeq(before, LAMBDA e : e \in Range(after))
        IN  after = stays \o SelectSeq(after, LAMBDA e : e \notin Range(before))]_vars

\* Rule 1.6.2: a flush takes the first entry.
AFlushTakesTheFirst ==
    [][\A f \in Flushers : pc[f] \in {"Poll", "AddUnlockList", "Claim", "Submit"}
        /\ at'[f] # at[f] /\ at'[f] # None => at'[f] = next[flushing'[f]]]_vars

NothingSubmittedAfterASuccessfulCancel ==
    [][\A e \in withdrawn : submissions'[e] = submissions[e]]_vars

-----------------------------------------------------------------------------
(* Liveness *)

FlushEnds == \A f \in Flushers : pc[f] # "Poll" ~> pc[f] = "Poll"

CancelEnds == \A c \in Cancellers : <>(pc[c] = "Done")

EveryEntryIsSubmittedOrCancelled ==
    \A a \in Adders : LET e == EntryOf[a] IN
        <>(submissions[e] > 0 \/ e \in withdrawn \/ e \in replaced)

LeftoversVanish == \A e \in Entries : Linked(e) /\ ~Bound(e) ~> ~Linked(e)

-----------------------------------------------------------------------------
(* Refinement: taking the binding away is what the abstract timer sees *)

AddsOf(k) ==
    Cardinality({a \in Adders :
        TaskOf[EntryOf[a]] = k /\ pc[a] \notin {"BindLock", "BindSwap"}})

AbstractTimer == INSTANCE Timer WITH
    Delays <- {0},
    TickMs <- 1,
    now <- 0,
    due <- [k \in Tasks |-> 0],
    state <- [k \in Tasks |-> IF bound[k] # None THEN "waiting" ELSE outcome[k]],
    adds <- [k \in Tasks |-> AddsOf(k)],
    outcomes <- [k \in Tasks |-> AddsOf(k) - (IF bound[k] # None THEN 1 ELSE 0)]

\* Without the abstract timer's promise to go on: liveness is stated above.
RefinesTimer == AbstractTimer!Init /\ [][AbstractTimer!Next]_(AbstractTimer!vars)

THEOREM Spec => RefinesTimer
=============================================================================
