"""Delayed produce and fetch on a small replica manager."""
