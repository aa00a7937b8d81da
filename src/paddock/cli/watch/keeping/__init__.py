"""A watch that goes on: its workers, its view, its background and its end."""
