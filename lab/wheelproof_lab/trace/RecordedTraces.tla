---- MODULE RecordedTraces ----
\* Generated: recorded traces, and how they have to fit SystemTimer.
EXTENDS SystemTimer, TLC

VARIABLES tr, l

TDelay == ${delays}
TTasks == DOMAIN TDelay
TProgram == ${programs}
TAdders == DOMAIN TProgram
TRestless == TAdders
TVictim == ${victims}
TCancellers == DOMAIN TVictim
TAdvancers == ${advancers}
TClosers == ${closers}
RolesOf == ${owners}
Silent == ${silent}

Traces == <<
 ${traces}
>>

Lanes == Traces[tr]
Upcoming(n) == Lanes[n][l[n]]
Open(n) == l[n] <= Len(Lanes[n])

AtRest(t) == pc[t] \in {"LockRead", "CancelRemove", "Idle", "CloseLock", "Done"}
OthersRest(e) == \A t \in RolesOf[e.th + 1] : t = e.t \/ AtRest(t)

Act(a, t) ==
    CASE a = "LockRead" -> LockRead(t)
      [] a = "Refuse" -> Refuse(t)
      [] a = "ReadClock" -> ReadClock(t)
      [] a = "Bind" -> Bind(t)
      [] a = "Insert" -> Insert(t)
      [] a = "Link" -> Link(t)
      [] a = "SetExpiration" -> SetExpiration(t)
      [] a = "Offer" -> Offer(t)
      [] a = "Submit" -> Submit(t)
      [] a = "UnlockRead" -> UnlockRead(t)
      [] a = "CancelRemove" -> CancelRemove(t)
      [] a = "CancelUnbind" -> CancelUnbind(t)
      [] a = "StartAdvance" -> StartAdvance(t)
      [] a = "AwaitDue" -> AwaitDue(t)
      [] a = "PollOutside" -> PollOutside(t)
      [] a = "TimeOut" -> TimeOut(t)
      [] a = "LockWrite" -> LockWrite(t)
      [] a = "Poll" -> Poll(t)
      [] a = "PollNothing" -> PollNothing(t)
      [] a = "AdvanceClock" -> AdvanceClock(t)
      [] a = "FlushLock" -> FlushLock(t)
      [] a = "FlushEntry" -> FlushEntry(t)
      [] a = "FlushEnd" -> FlushEnd(t)
      [] a = "UnlockWrite" -> UnlockWrite(t)
      [] a = "CloseLock" -> CloseLock(t)
      [] a = "CloseUnlock" -> CloseUnlock(t)
      [] a = "Shutdown" -> Shutdown(t)

\* Who can take which action at all: the others lack the registers that it looks at.
Actors(a) ==
    CASE a \in {"LockRead", "Refuse", "ReadClock", "Bind", "UnlockRead"} -> Adders
      [] a \in {"Insert", "Link", "SetExpiration", "Offer", "Submit"} -> Workers
      [] a \in {"CancelRemove", "CancelUnbind"} -> Cancellers
      [] a \in {"CloseLock", "CloseUnlock", "Shutdown"} -> Closers
      [] OTHER -> Advancers

Obs(t, o) ==
    CASE o.n = "delay" -> Delay[hand'[t]] = o.i
      [] o.n = "deadline" -> deadline'[hand'[t]] = o.i
      [] o.n = "taken" -> (into'[t] # None) = (o.i = 1)
      [] o.n = "new_level" -> into'[t] # None /\ into'[t][1] = o.i
      [] o.n = "new_bucket" -> into'[t] # None /\ into'[t][2] = o.i
      [] o.n = "level" -> into[t][1] = o.i
      [] o.n = "bucket" -> into[t][2] = o.i
      [] o.n = "key" -> Key(into[t]) = o.i
      [] o.n = "set_key" -> KeyFor(deadline[hand[t]], into[t][1]) = o.i
      [] o.n = "changed" -> (pc'[t] = "Offer") = (o.i = 1)
      [] o.n = "submitted" -> (Waiting(hand[t]) /\ executor = "open") = (o.i = 1)
      [] o.n = "found" -> (pc'[t] = "CancelUnbind") = (o.i = 1)
      [] o.n = "cancelled" -> Waiting(Victim[t]) = (o.i = 1)
      [] o.n = "polled_level" -> polled'[t][1] = o.i
      [] o.n = "polled_bucket" -> polled'[t][2] = o.i
      [] o.n = "polled_key" -> Key(polled'[t]) = o.i
      [] o.n = "wheel" -> wheel'[1].clock = o.i
      [] o.n = "flushed" -> hand'[t] = o.s

TakeNext(n) ==
    LET e == Upcoming(n) IN
    /\ Open(n)
    /\ e.low <= now /\ now <= e.high
    /\ e.t \in Actors(e.a)
    /\ OthersRest(e)
    /\ Act(e.a, e.t)
    /\ \A i \in DOMAIN e.ob : Obs(e.t, e.ob[i])
    /\ l' = [l EXCEPT ![n] = @ + 1]
    /\ UNCHANGED tr

Unseen ==
    /\ \E a \in Silent : \E t \in Actors(a) :
        /\ \A n \in DOMAIN RolesOf :
            t \in RolesOf[n] => \A o \in RolesOf[n] : o = t \/ AtRest(o)
        /\ Act(a, t)
    /\ UNCHANGED <<tr, l>>

Keys(most) == {k \in {Key(queue[i].bucket) : i \in DOMAIN queue} : k > now /\ k <= most}

\* Where the clock has to go for the next event of a lane.
NeededBy(n) ==
    IF ~Open(n) THEN {}
    ELSE IF Upcoming(n).low > now THEN {Upcoming(n).low}
    ELSE IF Upcoming(n).a \in {"Poll", "PollOutside"} \cup Silent \/ Silent # {}
    THEN Keys(Upcoming(n).high)
    ELSE {}

TLater(time) == UNION {NeededBy(n) : n \in DOMAIN l}

TimeGoes == Tick /\ UNCHANGED <<tr, l>>

TInit == Init /\ tr \in DOMAIN Traces /\ l = [n \in DOMAIN Traces[tr] |-> 1]

TNext == (\E n \in DOMAIN l : TakeNext(n)) \/ Unseen \/ TimeGoes

RECURSIVE Sum(_, _)
Sum(f, n) == IF n = 0 THEN 0 ELSE f[n] + Sum(f, n - 1)

ASSUME \A i \in DOMAIN Traces : TLCSet(i, -1)

\* How far each trace has come, whenever it comes further than before.
Report ==
    LET done == Sum(l, Len(Lanes)) - Len(Lanes) IN
    IF done > TLCGet(tr) THEN TLCSet(tr, done) /\ PrintT(<<"${reached}", tr, done>>) ELSE TRUE
====
