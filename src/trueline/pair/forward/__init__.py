"""Stages 3 and 5: every module by itself, and from a fault to its causes."""
