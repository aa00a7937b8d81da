"""Watching: looking again and again, entering what is new, and mending what somebody who died has left."""
