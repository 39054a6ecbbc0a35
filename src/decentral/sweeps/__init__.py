"""Many runs: comparisons, grids of settings, searches, and the back ends that train them."""
