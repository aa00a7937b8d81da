"""What processes, GPUs and this host use, read from the system itself. Knows nothing of runs and queues."""
