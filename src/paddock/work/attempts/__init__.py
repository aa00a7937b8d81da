"""One attempt of a task: its record, the directory it runs in, how it is settled, and processes started ahead."""
