"""Every checkpoint evaluated once, as soon as it is complete, its score at its step in the training run."""
