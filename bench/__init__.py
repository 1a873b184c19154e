"""Benchmarks: ratios measured side by side in one run, never single times (docs/performance.md)."""
