"""Statistics of replications, and closed forms of theory."""
