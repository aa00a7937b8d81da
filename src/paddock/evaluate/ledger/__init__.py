"""What was found and what became of it, on the disk; who watches; and the tasks that evaluate."""
