"""What goes into a queue: arguments, the code that is frozen, what a task waits for, sweeps, and submit() itself."""
