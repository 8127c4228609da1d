"""What a layer is built with on both sides, and which of it makes the difference."""
