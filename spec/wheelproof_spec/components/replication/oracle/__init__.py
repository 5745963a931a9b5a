"""The sequential specification of a broker."""
