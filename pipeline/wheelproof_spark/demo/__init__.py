"""The verb ``pipeline demo``: runs are recorded, judged, and compared with what is known."""
