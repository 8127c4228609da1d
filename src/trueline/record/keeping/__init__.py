"""The state before steps, kept in the run folder so that a step can be done again in another process."""
