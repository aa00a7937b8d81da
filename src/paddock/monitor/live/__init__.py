"""What changes, told to those who listen."""
