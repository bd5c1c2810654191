"""Studies: directories of runs, how they are carried out, joined and written as tables."""
