"""Running tasks: workers, their guards, and the processes of a task from its first to its last."""
