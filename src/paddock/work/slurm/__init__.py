"""Slurm: its words, the script that it is given, and the programs by which it is asked."""
