"""The failures in the state graph of a program: in a state, at the end, or for ever."""
