------------------------------ MODULE AcksAll ------------------------------
(***************************************************************************)
(* A produce request that waits for all replicas is answered once, by its  *)
(* time-out at the latest: ProduceFetch, whose produce purgatory is        *)
(* KeyedOperations, and whose time-outs are Timer's.                       *)
(*                                                                         *)
(* Source.       standard 2.2, 2.6, 5.1, 5.3; 1.7 for the time-outs.       *)
(* Abstraction.  As ProduceFetch; but a trigger is CheckInSteps, which     *)
(*               finds what is watched, and then tries one request after   *)
(*               the other, while others go on.  A model puts it in the    *)
(*               place of Trigger.                                         *)
(* Atomicity.    As ProduceFetch.  A time-out is added in a step after the *)
(*               last try, and taken back in one after the answer.         *)
(* Time.         No time goes by while a request is being handed in, and   *)
(*               the timer is late by Lateness at most; the clock stands   *)
(*               still where nobody waits.                                 *)
(* Fairness.     As ProduceFetch, and weak for the timer and the clock.    *)
(*                                                                         *)
(* The chain: Purgatory refines KeyedOperations, SystemTimer refines       *)
(* Timer, and this module is an instance of both.                          *)
(***************************************************************************)
EXTENDS ProduceFetch

CONSTANTS
    Timeout,        \* how long a produce request waits, in milliseconds
    Lateness        \* how late the timer may be, in milliseconds

VARIABLES
    now,            \* what the clock shows, in milliseconds
    due,            \* producer -> when its time-out is due, while it is in the timer
    timed,          \* producer -> its time-out: Timer's state of a task
    asked           \* history: producer -> when its request was handed in

clock == <<now, due, timed, asked>>
composed == <<vars, clock>>

\* A time-out is added once at most.
Timeouts == INSTANCE Timer WITH
    Tasks <- Producers, Delays <- {Timeout}, TickMs <- 1, state <- timed,
    adds <- [p \in Producers |-> IF timed[p] = "idle" THEN 0 ELSE 1],
    outcomes <- [p \in Producers |-> IF timed[p] \in {"idle", "waiting"} THEN 0 ELSE 1]

BeforeThePurgatory == {"Append", "ReadEnds", "Raise", "Answer"}

\* Past its last try.
Waits(p) == Open(p) /\ p \in produces /\ pc[p] \in {"Trigger", "Wait"}

-----------------------------------------------------------------------------
(* check_and_complete: find, try each one, return *)

ThenGoOn(t) ==
    /\ triggers' = [triggers EXCEPT ![t] = Tail(@)]
    /\ Go(t, IF Len(triggers[t]) > 1 THEN "Trigger" ELSE AfterTriggers(t))

\* A check that has begun has a third part: what it has found and not tried.
NowOwes(t, check, found) ==
    /\ triggers' = [triggers EXCEPT ![t] = <<<<check[1], check[2], found>>>> \o Tail(@)]
    /\ UNCHANGED pc

CheckInSteps(t) ==
    LET check == Head(triggers[t])
        owed == {r \in check[3] : Open(r) /\ r \in produces \cup fetches}
    IN
    /\ pc[t] = "Trigger"
    /\ IF Len(check) = 2
       THEN /\ NowOwes(t, check, {r \in WaitingUnder(check) : Open(r)})
            /\ produces' = {p \in produces : p \notin WaitingUnder(check) \/ Open(p)}
            /\ fetches' = {x \in fetches : x \notin WaitingUnder(check) \/ Open(x)}
            /\ UNCHANGED <<status, answer, received>>
       ELSE IF owed = {}
       THEN ThenGoOn(t) /\ UNCHANGED <<produces, fetches, status, answer, received>>
       ELSE \E r \in owed :
            LET done == IF Satisfied(r) THEN {r} ELSE {} IN
            /\ Answer({r}, done)
            /\ NowOwes(t, check, owed \ {r})
            /\ produces' = produces \ done
            /\ fetches' = fetches \ done
    /\ UNCHANGED <<partition, others, required, written, ready, todo, least, risen, leader>>

-----------------------------------------------------------------------------
(* Time-outs *)

AddTimeout(p) ==
    /\ Waits(p) /\ timed[p] = "idle"
    /\ Timeouts!Add(p, Timeout)
    /\ UNCHANGED <<vars, asked>>

TimeOut(p) ==
    /\ Timeouts!Fire(p)
    /\ answer' = [answer EXCEPT ![p] = IF Open(p) THEN "timed_out" ELSE @]
    /\ UNCHANGED <<partition, others, required, written, status, produces, fetches, received, pc,
                   registers, asked>>

TakeBack(p) ==
    /\ ~Open(p)
    /\ Timeouts!Cancel(p)
    /\ UNCHANGED <<vars, asked>>

\* What a request is waiting for keeps the clock from going on.
IsHandedIn(p) ==
    \/ pc[p] \in {"FirstTry", "Watch", "LastTry"}
    \/ Waits(p) /\ timed[p] = "idle"

TimeGoesOn ==
    /\ \E p \in Producers : Waits(p)
    /\ \A p \in Producers : ~IsHandedIn(p) /\ (timed[p] = "waiting" => now < due[p] + Lateness)
    /\ UNCHANGED <<vars, due, timed, asked>>
    /\ Timeouts!Tick

Broker ==
    /\ Next
    /\ asked' = [p \in Producers |->
            IF pc[p] = "Answer" /\ pc'[p] # "Answer" THEN now ELSE asked[p]]
    /\ UNCHANGED <<now, due, timed>>

ComposedNext ==
    \/ Broker
    \/ \E p \in Producers : AddTimeout(p) \/ TimeOut(p) \/ TakeBack(p)
    \/ TimeGoesOn

ComposedInit ==
    /\ Init
    /\ now = 0
    /\ due = [p \in Producers |-> 0]
    /\ timed = [p \in Producers |-> "idle"]
    /\ asked = [p \in Producers |-> 0]

ComposedSpec ==
    /\ ComposedInit
    /\ [][ComposedNext]_composed
    /\ Fairness
    /\ \A p \in Producers : WF_composed(AddTimeout(p)) /\ WF_composed(TimeOut(p))
    /\ WF_composed(TimeGoesOn)

-----------------------------------------------------------------------------
(* What it is made of *)

\* Requests that are answered without waiting are never handed in.
Stands(p) ==
    IF pc[p] \in BeforeThePurgatory \/ \A q \in Partitions : required[p][q] = 0
    THEN "idle"
    ELSE CASE Open(p) -> "pending"
           [] answer[p] = "timed_out" -> "expired"
           [] OTHER -> "completed"

GoesThrough(t) == triggers[t] # <<>> /\ Len(Head(triggers[t])) = 3 /\ Head(triggers[t])[1] = "produce"

\* The answer reaches who waits for it in a step of its own.
ProducePurgatory == INSTANCE KeyedOperations WITH
    Operations <- Producers, Keys <- Partitions, Triggers <- Threads, Raising <- {}, None <- "none",
    KeysOf <- [p \in Producers |-> Range(Asks[p])],
    outcome <- [p \in Producers |-> Stands(p)],
    holds <- {p \in Producers : Satisfied(p)},
    answers <- [p \in Producers |-> IF pc[p] = "Done" /\ Stands(p) # "idle" THEN 1 ELSE 0],
    expirations <- [p \in Producers |-> 0],
    watched <- [p \in Producers |-> IF p \in produces /\ Open(p) THEN Range(Asks[p]) ELSE {}],
    settled <- {p \in Producers : Waits(p)},
    doomed <- {},
    key <- [t \in Threads |-> IF GoesThrough(t) THEN Head(triggers[t])[2] ELSE "none"],
    todo <- [t \in Threads |-> IF GoesThrough(t) THEN {p \in Head(triggers[t])[3] : Open(p)} ELSE {}]

IsAPurgatory == ProducePurgatory!Safe

HasATimer == Timeouts!Init /\ [][Timeouts!Next]_(Timeouts!vars)

-----------------------------------------------------------------------------
(* The theorem, over what was asked and when *)

NobodyWaitsBeyondItsTimeOut ==
    \A p \in Producers : pc[p] \notin BeforeThePurgatory /\ Open(p) =>
        now <= asked[p] + Timeout + Lateness

NobodyTimesOutBefore ==
    \A p \in Producers : answer[p] = "timed_out" => now >= asked[p] + Timeout

\* Whatever becomes of the followers.
EveryRequestIsAnswered == \A p \in Producers : pc[p] # "Append" ~> ~Open(p)

AnsweredOnceByItsTimeOut ==
    AnswersAreFinal /\ []NobodyWaitsBeyondItsTimeOut /\ []NobodyTimesOutBefore
        /\ EveryRequestIsAnswered

THEOREM ComposedSpec => AnsweredOnceByItsTimeOut
=============================================================================
