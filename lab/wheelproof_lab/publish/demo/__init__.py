"""The verb `demo`: runs are recorded, judged, and compared with expected verdicts."""
