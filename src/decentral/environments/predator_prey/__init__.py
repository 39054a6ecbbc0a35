"""Predator-prey on a grid: its rules, its exact solution and its pictures."""
