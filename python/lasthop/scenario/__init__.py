"""Scenarios, single runs, and what can be said before and after one run."""
