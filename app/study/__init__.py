"""Studies: every system on the same pages, scored by the benchmarks' own metrics."""
