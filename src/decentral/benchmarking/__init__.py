"""How fast training is, compared with the device's limit and with PyMARL."""
