"""Figures of what the views say, drawn with matplotlib."""
