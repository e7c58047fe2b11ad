"""Two builds' benchmarks compared, as benchstat compares them."""
