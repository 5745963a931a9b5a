"""The main job: checks every side of the square in three minutes, and writes a page."""
