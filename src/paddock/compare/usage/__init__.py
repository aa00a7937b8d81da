"""What the processes of a run used: read from its journals, put on one time axis, stacked, drawn."""
