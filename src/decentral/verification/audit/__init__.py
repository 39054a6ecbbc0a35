"""The audit: did every agent learn and act on its own?"""
