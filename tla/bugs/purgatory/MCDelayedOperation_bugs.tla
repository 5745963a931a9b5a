---------------------- MODULE MCDelayedOperation_bugs -----------------------
(* What replaces an action of DelayedOperation to break a claim. *)
EXTENDS MCDelayedOperation

AnswerAgain(op) ==
    /\ Completed(op)
    /\ answers' = [answers EXCEPT ![op] = @ + 1]
    /\ UNCHANGED <<outcome, holds, expirations>>

NotifyBeforeTheAnswer(op) ==
    /\ outcome[op] = "expired"
    /\ expirations[op] = 0
    /\ expirations' = [expirations EXCEPT ![op] = 1]
    /\ UNCHANGED <<outcome, holds, answers>>

CompleteUntested(op) == End(op, "completed")

\* As Kafka does: a completion overtakes the cancel.
CancelWhateverItIs(op) ==
    /\ outcome[op] # "idle"
    /\ outcome' = [outcome EXCEPT ![op] = "cancelled"]
    /\ UNCHANGED <<holds, answers, expirations>>

EndStrangely(op) == End(op, "lost")

Never(op) == FALSE /\ UNCHANGED vars
=============================================================================
