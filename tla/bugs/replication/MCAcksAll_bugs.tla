--------------------------- MODULE MCAcksAll_bugs ---------------------------
(* What replaces an action of AcksAll, or of ProduceFetch, to break a claim. *)
EXTENDS MCAcksAll

\* A trigger tries the first request that it has found, and returns.
CheckTheFirst(t) ==
    LET check == Head(triggers[t])
        owed == {r \in check[3] : Open(r)}
    IN
    /\ pc[t] = "Trigger"
    /\ IF Len(check) = 2
       THEN /\ NowOwes(t, check, {r \in WaitingUnder(check) : Open(r)})
            /\ UNCHANGED <<produces, fetches, status, answer, received>>
       ELSE IF owed = {}
       THEN ThenGoOn(t) /\ UNCHANGED <<produces, fetches, status, answer, received>>
       ELSE \E r \in owed :
            LET done == IF Satisfied(r) THEN {r} ELSE {} IN
            /\ Answer({r}, done)
            /\ ThenGoOn(t)
            /\ produces' = produces \ done
            /\ fetches' = fetches \ done
    /\ UNCHANGED <<partition, others, required, written, ready, todo, least, risen, leader>>

\* The high watermark rises with the leader's log alone.
LeastOfTheLeader(end, known, replicas) == end

\* Only what waits for the first partition is found.
UnderTheFirstPartition(check) ==
    {r \in IF check[1] = "produce" THEN produces ELSE fetches : check[2] = Asks[r][1]}

\* Nobody tries a request again when it has been watched.
WaitUntried(r) ==
    /\ pc[r] = "LastTry"
    /\ ThenCheck(r)
    /\ UNCHANGED <<partition, others, required, written, status, produces, fetches, answer,
                   received, ready, todo, least, leader>>

\* The time runs from a moment later than the request.
AddTooLate(p) ==
    /\ Waits(p) /\ timed[p] = "idle"
    /\ due' = [due EXCEPT ![p] = now + Timeout + 1]
    /\ timed' = [timed EXCEPT ![p] = "waiting"]
    /\ UNCHANGED <<vars, asked, now>>

AddNothing(p) == FALSE /\ UNCHANGED composed

\* The timer is early.
FireEarly(p) ==
    /\ timed[p] = "waiting" /\ Open(p)
    /\ timed' = [timed EXCEPT ![p] = "submitted"]
    /\ due' = [due EXCEPT ![p] = 0]
    /\ answer' = [answer EXCEPT ![p] = "timed_out"]
    /\ UNCHANGED <<partition, others, required, written, status, produces, fetches, received, pc,
                   registers, asked, now>>

\* Whoever is answered already is told that its time is out.
AnswerOnceMore(p) ==
    /\ Timeouts!Fire(p)
    /\ answer' = [answer EXCEPT ![p] = "timed_out"]
    /\ UNCHANGED <<partition, others, required, written, status, produces, fetches, received, pc,
                   registers, asked>>
=============================================================================
