"""How fast training is: what is measured, how, beside what it must cost and beside a yardstick."""
