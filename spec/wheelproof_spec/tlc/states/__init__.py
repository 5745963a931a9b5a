"""The values and states of TLA+ that TLC prints, and its graphs of states."""
