"""Congestion laws in the kernel of this machine, as BPF programs."""
