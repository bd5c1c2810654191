"""Figures of the views, drawn with matplotlib."""
