"""What people order: which tasks they mean, and what becomes of those."""
