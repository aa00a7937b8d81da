"""The user's working tree: which files are its code, and what git says of it."""
