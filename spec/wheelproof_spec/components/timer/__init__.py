"""The timer: tasks, buckets, hierarchical timing wheels, the delay queue.

docs/standard/timer.md says what is right. Here it is judged. Which file has what:

- `component`: the calls, the answers, the configuration, and the clauses, each with its rule.
- `model`: what each call means, once: the sequential specification. `TimerOracle`, which judges
  driven cases by it, is there as well.
- `history` (recorded): the judge. `history/judge.py` passes each event to the other files, each of
  which judges one question.
- `work`, `cases.toml`, `cases`: the alphabet from which cases and bursts are drawn, the named
  cases, and both together as the suite of `wheelproof conform`. `bursts`: the
  bursts of a driven timer.
- `port`: how each typed call is made, and which call a method is. `load`: the calls of recorded
  histories.
- `reference`: the reference as a driver. `machine`, with `lists`: threads that fuzz it. `view`:
  pictures.
- `vector_answers`: the answers of published vectors. `actions`: the steps of white-box traces.

Why two judges? Calls that overlap have no known order. In a driven case one call is under way, so
`TimerOracle` knows by the model which answers are right. A recording has overlapping calls:
`history` judges it in linear time, by what holds in every order, and can miss a contradiction
between several answers. So `history.search` tries the orders of a small recording as well, by the
model; its docstring says what it leaves out.

CONTRIBUTING.md tells how to add a rule or a call.
"""
