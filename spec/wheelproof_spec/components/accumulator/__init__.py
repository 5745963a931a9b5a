"""The record accumulator: batches of records between appenders and a sender.

docs/standard/accumulator.md says what is right. Here it is judged. Which file has what:

- `component`, with `calls`: the calls, the answers, the configuration, and the clauses, each with
  its rule.
- `oracle` (driven) and `history` (recorded): the judges. `oracle/ledger.py` says what each call
  means; `history/judge.py` passes each event to the other files, each of which judges one question.
- `work`, `cases.toml`, `cases`: the alphabet from which cases and bursts are drawn, the named
  cases, and the suite of `wheelproof conform`, which turns steps into the calls of driven cases.
- `port`: how each call is made of the reference. `reference`: the reference as a driver.
- `clients`: the calls of bursts and loads, recorded. `machine`: threads that fuzz the reference.
  `load`: the steps of recorded histories, and their sender. `view`: pictures.

Why two judges? Calls that overlap have no known order. In a driven case one call begins at a time,
so `oracle` knows by its ledger which answers are right. A recording has overlapping calls:
`history` judges it in linear time, by what holds in every order, and can miss a contradiction
between several answers. So `history.search` tries the orders of a small recording as well, by a
model of its own; its docstring says what that leaves out.

CONTRIBUTING.md tells how to add a rule or a call.
"""
