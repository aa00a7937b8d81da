"""One file per benchmark.

Each has NAME, ABOUT, systems(bench), once(bench, system) -> {quantity: number}, and lines(results, bench): its targets.
"""
