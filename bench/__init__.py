"""Side-by-side benchmarks: Paddock and its peers, in the same run, each measurement in a fresh process."""
