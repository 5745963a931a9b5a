"""How the states of the replica manager compare with those of ProduceFetch."""
