"""Functions of arrays: layers, trunks, heads and context models. They know nothing about rewards."""
