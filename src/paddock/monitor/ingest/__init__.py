"""What clients send: byte ranges of their runs' files, put into the server's own home (docs/reference/shipping.md)."""
