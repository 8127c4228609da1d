"""The command line: one file per verb, wiring the rooms together."""
