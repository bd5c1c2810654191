"""What the rows of a trace of events say, as sentences with reasons; `#` stands for a number of a byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.views.arrows import KINDS, NAMES

if TYPE_CHECKING:
    from lasthop.views.events import Event

_REASONS = {
    "error": "bit errors",
    "collision": "a collision: sent at the same time",
    "queue": "the queue was full",
    "outage": "the link was down",
    "out-of-reach": "out of reach",
    "deaf": "the node was sending itself",
    "retry-limit": "the MAC gave up after its last attempt",
    "above-mac": "an error above the MAC",
    "late": "too late for the reorder buffer",
    "no-route": "no route",
    "policer": "it exceeds the rate of the policer",
    "count": "too many transmissions",
    "lifetime": "its lifetime was over",
    "suppressed": "suppressed",
    "flushed": "the queue was emptied",
    "delivered": "",
}
_SENT = {
    "new": "the window has room",
    "fast-retransmit": "duplicate ACKs tell of a loss",
    "timeout": "the retransmission timer fired",
    "again": "a closed window or an outage is over",
    "probe": "the window of the receiver is closed",
}
_RECEIVED = {
    "in-order": "next in order",
    "early": "a segment before it is missing",
    "repeat": "it was here already",
}
_FIELDS = {
    "ack-flag": "the ACK flag",
    "flags": "the flags",
    "numbers": "the numbers",
    "window": "the advertised window",
    "options": "the options",
    "length": "the length",
}
_EVENTS = {
    "make": "The agent makes {}",
    "keep": "The agent keeps {}",
    "release": "The agent releases {}",
    "again": "The agent sends {} again",
}


def reason_of(word: str) -> str:
    """Why something was lost, in words."""
    return _REASONS.get(word, word.replace("-", " "))


def packet_of(row: Event) -> tuple[str, int]:
    """What a packet is, and its number.

    As a ladder names it: data by its first byte, an ACK by what it acknowledges.
    """
    if row.what == "data" or (row.what == "fin" and row.len > 0):
        return "data #", row.seq
    if row.what == "datagram":
        return "datagram #", row.seq
    if row.what == "ack":
        return "ACK #", row.ack
    return NAMES.get(row.what, row.what), -1


def kind_of(row: Event, carried: Event | None) -> tuple[str, str, int]:
    """The kind of a frame or packet, what it is, and its number; of an A-MPDU that of its first packet."""
    if carried is not None and row.what == "a-mpdu":
        what, number = packet_of(carried)
        return KINDS.get(carried.what, "control"), f"{NAMES['a-mpdu']} from {what} on", number
    if carried is not None:
        return KINDS.get(carried.what, "control"), *packet_of(carried)
    if row.layer == "frame" and row.what in ("ack", "block-ack"):
        return "mac-ack", "MAC ACK" if row.what == "ack" else NAMES["block-ack"], -1
    return "control", NAMES.get(row.what, row.what), -1


def sentence_of(row: Event, before: Event | None, packet: Event | None) -> tuple[str, str, str, int] | None:
    """What a row says: kind, sentence, reason and number; nothing for rows that others say as well.

    Args:
        row: The row.
        before: The row before it.
        packet: The row that made the packet.
    """
    if row.layer in ("tcp", "udp"):
        return _transport(row)
    if row.layer == "agent":
        return _agent(row, before)
    if row.layer == "link":
        return _link(row)
    if row.layer == "frame":
        return _frame(row, packet)
    if row.layer == "mpdu":
        what, number = packet_of(row)
        is_alone = row.event == "lost" and row.why == "error"
        return (
            ("loss", f"The MPDU of {what} does not arrive", reason_of(row.why), number) if is_alone else None
        )
    if row.layer == "app" and row.event in ("write", "close"):
        return "tcp", "The application writes" if row.event == "write" else "The application closes", "", -1
    return None


def _transport(row: Event) -> tuple[str, str, str, int] | None:
    name = row.layer.upper()
    what, number = packet_of(row)
    if row.event == "send":
        if row.what == "ack":
            return "tcp", f"{name} sends {what}", "data arrived", number
        again = "" if row.why == "new" or row.layer == "udp" else " again"
        why = _SENT.get(row.why, "") if row.what == "data" or again else ""
        return "tcp", f"{name} sends {what}{again}", why, number
    if row.event == "receive":
        return "tcp", f"{name} receives {what}", _RECEIVED.get(row.why, ""), number
    sentences = {
        "ack": ("tcp", "ACK # is new", f"the window is {row.cwnd:.3g} segments"),
        "partial": (
            "tcp",
            "ACK # is new, but not of all",
            "another segment of the window is lost",
        ),
        "dupack": ("tcp", "ACK # is a duplicate", "a later segment has arrived, # has not"),
        "enter": ("tcp", "TCP takes # for lost", "enough duplicate ACKs"),
        "exit": ("tcp", "The recovery ends", "all is acknowledged that was outstanding"),
        "timeout": ("timeout", "Timeout of #", "no ACK of it came in time"),
    }
    if row.event == "fire" and row.what == "retransmit":
        return "timeout", "The retransmission timer fires", "no ACK came in time", -1
    found = sentences.get(row.event)
    return None if found is None else (*found, row.ack)


def _agent(row: Event, before: Event | None) -> tuple[str, str, str, int] | None:
    what, number = packet_of(row)
    if row.event == "change":
        return "agent", f"The agent changes {_FIELDS.get(row.why, row.why)} of {what}", "", number
    text = _EVENTS.get(row.event)
    if text is None:
        return None
    why = ""
    if before is not None and (before.time_s, before.node) == (row.time_s, row.node):
        if before.layer == "link" and before.event == "done" and before.why == "delivered":
            why = "the link reports delivery"
        elif before.layer == "link" and before.event == "receive":
            why = "a packet comes from the link"
        elif before.event == "send":
            why = "it comes from the transport of this node"
    if row.event == "keep":
        why = "so that it is not sent" if not why else f"{why}; it is not passed on"
    return "agent", text.format(what), why, number


def _link(row: Event) -> tuple[str, str, str, int] | None:
    what, number = packet_of(row)
    if row.event == "lost":
        return "loss", f"{_upper(what)} is lost", reason_of(row.why), number
    if row.event == "done":
        if row.why == "delivered":
            return "link", f"The link has delivered {what}", "its ACK of the MAC came", number
        return "link", f"The link gives {what} up", reason_of(row.why), number
    return None


def _frame(row: Event, packet: Event | None) -> tuple[str, str, str, int] | None:
    is_packet = row.what in ("data", "packet", "a-mpdu")
    _, what, number = kind_of(row, packet if is_packet else None)
    if row.event == "lost":
        return "loss", f"{_upper(what)} does not arrive", reason_of(row.why), number
    if row.event != "send":
        return None
    if row.what == "packet":
        return "frame", f"{_upper(what)} leaves", "", number
    why = ""
    if row.slots >= 0:
        why = f"after a backoff of {row.slots} slot{'' if row.slots == 1 else 's'}"
    elif row.what == "cts":
        why = "it answers the RTS"
    elif row.what in ("ack", "block-ack"):
        why = "the frame has arrived"
    if row.attempt > 1 and row.what != "a-mpdu":
        why = ", ".join(part for part in (f"attempt {row.attempt}", why) if part)
    return "frame", f"{_upper(what)} is sent", why, number


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
