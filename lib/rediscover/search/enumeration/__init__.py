"""Expressions in order of cost, the target undone from above, and forms beside: `bidirectional`, AI Feynman."""
