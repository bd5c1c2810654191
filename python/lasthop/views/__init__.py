"""Views of runs and studies: each turns results into numbers and text."""
