"""What follows from the scores: the best is made known, the others may go, the trainer may stop."""
