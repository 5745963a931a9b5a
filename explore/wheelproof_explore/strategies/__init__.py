"""The engines: each chooses, run after run, the thread that makes the next step."""
