"""Engines that several methods share."""
