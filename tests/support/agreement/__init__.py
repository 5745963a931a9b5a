"""Small histories, and models of the general search, whose verdicts the judges have to share."""
