"""The report of a run: its data, and the page that draws them."""
