"""Watching a training for the first number that is not one: cheaply, and op by op where it went wrong."""
