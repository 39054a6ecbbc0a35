"""PyMARL's IQL in PyTorch, for comparison."""
