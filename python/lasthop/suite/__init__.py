"""Suites: fixed sets of cases by which a congestion law is compared with those that are known."""
