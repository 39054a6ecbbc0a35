"""Many runs: comparisons, grids of settings, searches, and who trains them."""
