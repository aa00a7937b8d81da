"""To and from others."""
