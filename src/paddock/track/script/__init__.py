"""Running a script or a command as a run: its config overridden, how it ended written down."""
