"""What is asked of a described dataset."""
