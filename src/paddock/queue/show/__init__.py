"""What people see of a queue: its tasks, its workers, and why what waits is waiting."""
