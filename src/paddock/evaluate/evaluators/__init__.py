"""What evaluates a checkpoint, how it is called, and what it has returned."""
