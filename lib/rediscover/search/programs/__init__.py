"""Compiled programs: operators, evaluation, constants, variation; what all compiled searches import."""
