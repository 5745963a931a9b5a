"""Reference of a message broker's delayed-operation machinery, on the standard library alone.

The packages follow the parts of the system: `timer` (hierarchical timing wheels), `purgatory`
(operations that wait for a condition or a time-out), `replication` (produce and fetch requests that
wait there) and `producer` (the buffer pool and the record accumulator). Below them are `clock` and
`sync`, the only door to concurrency. docs/standard numbers the rules that they implement;
docstrings cite them as "standard 1.5", and as "TLA+" the actions of the models. What holds after
any single fault of the environment is standard 6.9.
"""
