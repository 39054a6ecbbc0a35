"""Reads run directories: results, statistics and plots. It imports no training code."""
