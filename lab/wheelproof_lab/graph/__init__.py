"""Graph mode: every reachable state of the real code, compared with the state graph of TLC."""
