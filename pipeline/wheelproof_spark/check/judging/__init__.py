"""Lines as verdicts: what one task does with the ordered lines of runs."""
