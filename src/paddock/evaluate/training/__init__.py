"""Which training a checkpoint is of, and which step of it."""
