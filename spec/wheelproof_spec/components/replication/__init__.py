"""Delayed produce and fetch on a small replica manager.

docs/standard/replication.md says what is right. Here it is judged. Which file has what:

- `component`: the calls, the answers, the configuration, and the clauses, each with its rule.
- `model`: what each call means to one partition, once: the sequential specification.
- `oracle`, with `answers` (driven), and `history` (recorded): the judges. `history/judge.py` passes
  each event to the other files, each of which judges one question.
- `work`, `cases.toml`, `cases`: the alphabet from which cases and bursts are drawn, the named
  cases, and the suite of `wheelproof conform`, which turns steps into the calls of driven cases.
- `port`: how each call is made of the reference. `reference`: the reference as a driver.
- `clients`: the calls of bursts and loads, recorded. `machine`: threads that fuzz the reference.
  `load`: the steps of recorded histories. `view`: pictures.

Why two judges? Calls that overlap have no known order. In a driven case one call begins at a time,
so `oracle` knows by the model which answers are right. A recording has overlapping calls:
`history` judges it in linear time, by what holds in every order, and can miss a contradiction
between several answers. So `history.search` tries the orders of a small recording as well, by the
model; its docstring says what it leaves out.

CONTRIBUTING.md tells how to add a rule or a call.
"""
