"""Captures of Wi-Fi with radiotap headers: what they say about a link, and a scenario made of it."""
