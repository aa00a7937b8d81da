"""What a process says: the `logging` module's lines, exceptions that nobody caught, and what was printed."""
