"""The record accumulator: batches of records, until a broker has stored them (standard 4)."""
