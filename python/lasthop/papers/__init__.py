"""Claims of papers, and how the results of studies compare with them."""
