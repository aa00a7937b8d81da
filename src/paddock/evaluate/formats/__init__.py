"""When a checkpoint of each format is complete. One file a format; `judge` chooses by looking."""
