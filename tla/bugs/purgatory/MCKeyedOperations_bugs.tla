------------------------ MODULE MCKeyedOperations_bugs -----------------------
(* What replaces an action of KeyedOperations to break a claim. *)
EXTENDS MCKeyedOperations

\* Whoever hands an operation in is content with the first of its keys.
SettleUnderOneKey(op) ==
    /\ Pending(op) /\ op \notin settled
    /\ watched[op] # {} \/ op \in doomed
    /\ Tried(op)
    /\ settled' = settled \cup {op}
    /\ UNCHANGED <<plain, watched, doomed, key, todo>>

\* It is not tried after the last watch.
SettleUntested(op) ==
    /\ Pending(op) /\ op \notin settled
    /\ watched[op] = KeysOf[op] \/ op \in doomed
    /\ settled' = settled \cup {op}
    /\ UNCHANGED <<plain, watched, doomed, key, todo>>

\* A trigger passes over what it has found.
VisitUntested(t, op) ==
    /\ op \in todo[t]
    /\ todo' = [todo EXCEPT ![t] = @ \ {op}]
    /\ UNCHANGED <<plain, watched, settled, doomed, key>>

\* What is done stays on the lists of those who would try it.
ForgetTheWatches(op) ==
    /\ watched' = [watched EXCEPT ![op] = {}]
    /\ settled' = settled \ {op}
    /\ doomed' = doomed \ {op}
    /\ UNCHANGED <<key, todo>>

\* What a cancel has taken is still owed a try, under a key that it has lost.
TakeFromTheListAlone(k) ==
    LET taken == {op \in Operations : k \in watched[op]} IN
    /\ taken # {}
    /\ watched' = [op \in Operations |-> watched[op] \ {k}]
    /\ doomed' = doomed \cup taken
    /\ UNCHANGED <<plain, settled, key, todo>>

\* A trigger ends under a key that there is not.
ReturnToNowhere(t) ==
    /\ key[t] # None
    /\ todo[t] = {}
    /\ key' = [key EXCEPT ![t] = "nowhere"]
    /\ UNCHANGED <<plain, watched, settled, doomed, todo>>
=============================================================================
