"""The run on disk, which all others share."""
