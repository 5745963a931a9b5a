"""The record accumulator: batches of records between appenders and a sender."""
