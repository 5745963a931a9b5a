"""What every verb of the pipeline needs: options, Spark's session, the output's folder."""
