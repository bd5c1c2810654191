"""Congestion laws in Python: the events that a law receives, the window that it edits, and Reno.

>>> from lasthop.laws import Loss, Reno, Window
>>> window = Window(cwnd=11.0, ssthresh=8.0, limit=100.0)
>>> Reno().on_loss(Loss(now_s=1.0, base=11.0, least=2.0), window)
>>> window.cwnd, window.ssthresh
(5.5, 5.5)
"""

from lasthop.laws.events import Ack, Departure, Law, Loss, Start, Timeout, Window
from lasthop.laws.reno import Reno

__all__ = ["Ack", "Departure", "Law", "Loss", "Reno", "Start", "Timeout", "Window"]
