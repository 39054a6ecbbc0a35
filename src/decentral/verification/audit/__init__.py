"""The audit: did every agent learn and act by itself?"""
