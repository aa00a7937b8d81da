"""Tasks in directories: a task is one plain-text file, the directory it is in is its state, `mv` is an interface."""
