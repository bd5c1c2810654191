"""Suites: fixed sets of cases by which a law is compared with those that are known."""
