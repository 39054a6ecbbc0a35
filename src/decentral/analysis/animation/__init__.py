"""Films of episodes, as a page or as a GIF."""
