"""A server that a main process starts for its workers where its disk cannot be seen."""
