"""What everything rests on: verdicts, violations, errors, reports, strict JSON, ports."""
