"""One HTML file with everything about a study or a paper, readable without lasthop and without a network."""
