"""How things are judged; no engine knows a component."""
