"""Display names for swept keys and values: those of the scenario, and those of the registry."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base.quantity import metric_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lasthop.scenario.scenario import Scenario

# The parts of the registry, by the keys that select from them.
PARTS = {
    "tcp.variant": "tcp",
    "tcp.recovery": "recovery",
    "tcp.congestion": "congestion",
    "tcp.reaction": "reactions",
    "arq.kind": "arq",
    "frn.interval": "intervals",
}


# Tables whose names say nothing beside the names of their keys.
_SILENT = ("app", "place", "propagation")
_SHORT = ("rtt", "rto", "rts", "ack", "mac", "ip")
# Words of keys that are not written as they stand in the key.
_WORDS = {
    "app": "traffic",
    "arq": "ARQ",
    "ber": "error rate",
    "coherence": "coherence time",
    "cw-max": "largest contention window",
    "fec": "code",
    "frn": "FRN",
    "min-rto": "minimum RTO",
    "packet": "packet size",
    "poisson": "Poisson",
    "quic": "QUIC",
    "red": "RED",
    "rts-threshold": "RTS threshold",
    "tcp": "TCP",
    "udp": "UDP",
}


@cache
def _registry() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(_core.registry())
    return found


def link_kinds() -> dict[str, dict[str, Any]]:
    """The kinds of links with their titles and properties, by name."""
    return {str(entry["name"]): entry for entry in _registry()["drawn"]}


def registered(key: str) -> dict[str, dict[str, Any]]:
    """The entries from which a key selects, by name, in the order of the registry; empty for other keys."""
    part = PARTS.get(".".join(key.split(".")[-2:]), "")
    if key.startswith("agents.") and key.endswith(".kind"):
        part = "agents"
    return {str(entry["name"]): entry for entry in _registry()[part]} if part else {}


def names_of(scenario: Scenario, figure: Mapping[str, Any]) -> dict[str, str]:
    """Display names for swept values in a figure: its own names, or those of the registry.

    A value that occurs for several swept keys is left unchanged unless the figure names it, or the keys agree
    on its name.
    """
    found: dict[str, str] = {}
    texts = [
        (key, text)
        for keys, rows in scenario.axes()
        for row in rows
        for key, text in zip(keys, row, strict=True)
    ]
    keys_of: dict[str, set[str]] = {}
    for key, text in texts:
        keys_of.setdefault(text, set()).add(key)
    for key, text in texts:
        entry = registered(key).get(text)
        if entry is not None and all(
            registered(other).get(text, {}).get("title") == entry["title"] for other in keys_of[text]
        ):
            found[text] = str(entry["title"])
    return {**found, **(figure.get("names") or {})}


def key_words(key: str, swept: Iterable[str] = ()) -> str:
    """A key in words, for axes and legends; with the name of its flow, link or node if others need it.

    Args:
        key: The key.
        swept: The keys from which it must be distinguished.

    >>> key_words("flows.main.tcp.packet"), key_words("agents.snoop.kind"), key_words("links.air.arq.kind")
    ('TCP packet size', 'agent', 'ARQ')
    >>> key_words("flows.main.tcp.ejtcp.rtt-threshold"), key_words("nodes.n.count"), key_words("run.seed")
    ('EJTCP RTT threshold', 'nodes', 'seed')
    >>> key_words("links.a.delay", ["links.a.delay", "links.b.delay"])
    'a delay'
    """
    words = _words(key)
    parts = key.split(".")
    if len(parts) > 2 and any(other != key and _words(other) == words for other in swept):
        return f"{parts[1]} {words}"
    return words


def metric_labels(metrics: Sequence[str]) -> list[str]:
    """What tells metrics apart: the names of their flows, links or nodes, what they measure, or both.

    >>> metric_labels(["flows.down1.goodput_bps", "flows.down2.goodput_bps"])
    ['down1', 'down2']
    >>> metric_labels(["flows.ping.rtt_p50_s", "flows.ping.rtt_p95_s"])
    ['rtt p50', 'rtt p95']
    >>> metric_labels(["links.a.utilisation", "links.a.reverse.utilisation"])
    ['a', 'a reverse']
    >>> metric_labels(["flows.up.goodput_bps", "links.a.drops_queue"])
    ['up goodput', 'a drops queue']
    """
    owners = [metric.split(".")[1:-1] for metric in metrics]
    words = [metric_words(metric) for metric in metrics]
    shared = 0
    while all(len(owner) > shared + 1 and owner[shared] == owners[0][shared] for owner in owners):
        shared += 1
    told = [" ".join(owner[shared:]) for owner in owners]
    if len(set(told)) == 1:
        found = words
    elif len(set(words)) == 1:
        found = told
    else:
        found = [f"{owner} {word}".strip() for owner, word in zip(told, words, strict=True)]
    return found if len(set(found)) == len(metrics) else list(metrics)


def _words(key: str) -> str:
    room, *rest = key.split(".")
    if len(rest) > 1:
        rest = rest[1:]
    if rest == ["count"]:
        return room
    if rest[-1:] == ["kind"]:
        rest = rest[:-1] or [room.removesuffix("s")]
    rest = [*(word for word in rest[:-1] if word not in _SILENT), *rest[-1:]]
    titles = _titles()
    # The parameters of a law need no "TCP" before its name.
    if len(rest) > 2 and rest[0] == "tcp" and rest[1] in titles:
        rest = rest[1:]
    # A parameter of 802.11, of ARQ or of the FRN has the name of its table once.
    rest = [word for at, word in enumerate(rest) if word not in rest[:at]]
    return " ".join(titles.get(word) or _WORDS.get(word) or _spelled(word) for word in rest) or key


def _spelled(word: str) -> str:
    return " ".join(_WORDS.get(part, part.upper() if part in _SHORT else part) for part in word.split("-"))


def titled(key: str, value: str) -> str:
    """The title that the registry has for a value of a key, or the value.

    >>> titled("flows.main.tcp.variant", "cubic"), titled("links.a.delay", "5 ms")
    ('CUBIC', '5 ms')
    """
    return str(registered(key).get(value, {}).get("title", value))


def in_turn(text: str) -> list[str]:
    """The values in a list for the members of a group; a single value is a list of one.

    >>> in_turn('["cubic", "bbr"]'), in_turn("5 ms")
    (['cubic', 'bbr'], ['5 ms'])
    """
    return [str(it) for it in json.loads(text)] if text.startswith("[") else [text]


@cache
def _titles() -> dict[str, str]:
    """The display names of all schemes and laws."""
    parts = [entries for part, entries in _registry().items() if part in ("tcp", "agents", "reactions")]
    return {str(entry["name"]): str(entry["title"]) for entries in parts for entry in entries}
