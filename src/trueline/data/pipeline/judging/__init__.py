"""What is wrong with a pipeline, from the evidence alone: one file for each question."""
