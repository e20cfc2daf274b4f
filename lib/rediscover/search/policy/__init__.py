"""Sequences of tokens drawn from a network that is rewarded: DSR, NGGP, uDSR."""
