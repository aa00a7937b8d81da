"""COMPARE: choose runs, see what differs, put their numbers side by side."""
