"""The index of a home on local disk: delete it and it is rebuilt from the runs."""
