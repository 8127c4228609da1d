"""Comparisons as a Report for people and a Result for programs."""
