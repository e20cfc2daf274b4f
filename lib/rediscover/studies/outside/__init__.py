"""Judged from outside: problems that others drew or measured, or that are drawn fresh, and published peers."""
