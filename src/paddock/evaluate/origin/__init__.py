"""Where checkpoints come from, and what can be seen of them there: a directory, or a bucket of an object store."""
