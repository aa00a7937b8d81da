"""What a checkpoint contains: what tells it from others, that it stays the same, and where it can be read."""
