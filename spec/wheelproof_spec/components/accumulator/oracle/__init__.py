"""The sequential specification of the record accumulator, which judges driven cases."""
