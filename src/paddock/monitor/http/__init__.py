"""What a request says, and how an answer is made of values."""
