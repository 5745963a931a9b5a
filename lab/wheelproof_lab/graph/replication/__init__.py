"""The comparison of the replica manager's states with the states of ProduceFetch."""
