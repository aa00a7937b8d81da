"""What tasks and hosts use, as workers see it."""
