"""How far the work has come: bars over threads, processes and ranks, and tqdm's."""
