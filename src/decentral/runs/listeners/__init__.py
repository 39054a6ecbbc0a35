"""Listeners: those who are told how a run goes."""
