"""A Report as what a reader wants: terminal, and later documents; and reports on runs."""
