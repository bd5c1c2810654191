"""One HTML file with everything about a study or a paper, for readers without lasthop or network."""
