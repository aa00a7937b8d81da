"""What happens to runs, told to people."""
