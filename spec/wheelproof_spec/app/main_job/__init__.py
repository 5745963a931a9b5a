"""The main job: a look at every side of the square, in three minutes, with a page to keep."""
