"""PyMARL's IQL in PyTorch, to be measured beside."""
