"""Tasks of several ranks, as workers run them together."""
