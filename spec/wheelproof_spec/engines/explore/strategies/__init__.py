"""The engines: each decides, run after run, who makes the next step."""
