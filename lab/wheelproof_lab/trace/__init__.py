"""White-box traces of the timer, replayed step by step through SystemTimer.tla's actions."""
