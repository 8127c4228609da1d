"""Datasets: where they come from, what is in them, what is wrong with them, and their pipelines."""
