"""Loops that ask somebody for proposals, a language model or a genetic operator, and fit what comes."""
