"""Reads run directories: results and plots. It imports no training code."""
