"""Judged from outside: problems whose truths nobody here has read, published peers, and measured tables."""
