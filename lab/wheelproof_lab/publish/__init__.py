"""Generated documents: pages, figures, verdicts, the main job and the demo of the pipeline."""
