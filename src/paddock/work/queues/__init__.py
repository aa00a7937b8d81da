"""The queues as a worker sees them: their names in memory, what waits, checks, and what the dead left behind."""
