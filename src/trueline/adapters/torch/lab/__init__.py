"""Calls of torch's API for the lab: one module per kind of call, each with ``run``."""
