"""Tasks of several ranks, as their directory tells of them."""
