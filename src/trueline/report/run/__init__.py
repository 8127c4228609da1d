"""Recorded runs as facts (for JSON) and as blocks of a report."""
