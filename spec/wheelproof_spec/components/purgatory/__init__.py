"""The purgatory: operations that wait for a condition or for their time-out.

docs/standard/purgatory.md says what is right. Here it is judged. Which file has what:

- `component`: the calls, the answers, the configuration, and the clauses, each with its rule.
- `model`: what each call means, once: the sequential specification.
- `oracle` (driven) and `history` (recorded): the judges. `history/judge.py` passes each event to
  the other files, each of which judges one question.
- `work`, `cases.toml`, `cases`: the alphabet from which cases and bursts are drawn, the named
  cases, and both together as the suite of `wheelproof conform`.
- `reference`: the reference as a driver. `machine`: threads that fuzz it. `view`: pictures.
- `port`: how each typed call is made. `load`: the calls of recorded histories. `recording`: which
  call a method is, where any program is recorded.

Why two judges? Calls that overlap have no known order. In a driven case one call is under way, so
`oracle` knows by the model which answers are right. A recording has overlapping calls:
`history` judges it in linear time, by what holds in every order, and can miss a contradiction
between several answers. So `history.search` tries the orders of a small recording as well, by the
model; its docstring says what it leaves out.

CONTRIBUTING.md tells how to add a rule or a call.
"""
