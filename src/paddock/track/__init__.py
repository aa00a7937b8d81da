"""Inside the training process: what happens is written down as it happens."""
