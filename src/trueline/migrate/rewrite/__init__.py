"""A draft of a port: a torch script written for MindSpore where both are equal, noted where not."""
