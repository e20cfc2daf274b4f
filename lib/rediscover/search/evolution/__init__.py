"""Populations of programs: regularised evolution, age-fitness, guided by concepts."""
