"""What a conformance run does if nothing else is said; cheap to import, for the verb's help."""

CASES = 1_000
SEED = 1
TIMEOUT_S = 20.0
"""How long a driver may take for an answer, in seconds."""
MEMORY_MB = 2_048
"""How much memory the driver's processes may hold, in MiB."""
TEMPLATES = {
    "python": "adapter.py",
    "go": "adapter.go",
    "recorder": "recorder.py",
}
"""The file of each template to start from, by the name that one asks for it."""
