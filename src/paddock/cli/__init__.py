"""The command line: one file per verb, one output object."""
