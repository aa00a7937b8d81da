"""Telling people what happens: what is told to whom, and how it goes out."""
