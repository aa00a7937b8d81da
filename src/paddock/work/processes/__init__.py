"""The guard, and the processes of a task from its first to its last."""
