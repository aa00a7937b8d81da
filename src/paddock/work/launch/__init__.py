"""Engines that start workers for us: each task of an engine's queue gets a job of its own."""
