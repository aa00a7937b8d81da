"""Runs on their way to a server: what is sent, and the client that sends it (docs/reference/shipping.md)."""
