"""The base of all other packages: verdicts, violations, errors, reports, strict JSON, ports."""
