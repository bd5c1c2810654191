"""Rules of packets and of streams of bytes: nothing is gone, nothing is there twice, all is in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .observed import ROUNDING, Observed, seconds, size_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator


def packets_are_conserved(seen: Observed) -> Iterator[str]:
    for name, (terms, _) in seen.accounts.items():
        for unit, place in (("packets", 0), ("bytes", 1)):
            came = sum(terms[term][place] for term in ("entered", "made", "repeated"))
            went = sum(terms[term][place] for term in ("delivered", "lost", "taken", "on the way"))
            if came != went:
                yield f"{name}: {came} {unit} came and {went} went: {_shown(terms, place)}"


def nothing_is_repeated_but_by_slots_and_wires(seen: Observed) -> Iterator[str]:
    """A wire that duplicates packets counts the copies."""
    if "frn" in seen.kinds():
        return
    copied = _sum(seen, "links.", ".duplicated")
    repeated = sum(terms["repeated"][0] for terms, _ in seen.accounts.values())
    if repeated != copied and not (seen.has_warmup and repeated > copied):
        yield f"{repeated} packets came twice, and {copied:.0f} were duplicated"


def losses_are_counted_where_they_happen(seen: Observed) -> Iterator[str]:
    """The drops of all links are the packets lost; an 802.11 link may also discard a delivered one."""
    if seen.has_warmup:
        return
    lost = sum(terms["lost"][0] for terms, _ in seen.accounts.values())
    names = (
        "drops_queue",
        "drops_policer",
        "drops_aqm",
        "drops_loss",
        "drops_retry",
        "drops_lifetime",
        "drops_above",
        "packets_lost",
    )
    dropped = sum(
        value or 0
        for name, value in seen.metrics.items()
        if name.startswith("links.") and name.rsplit(".", 1)[1] in names
    )
    # An outage loses packets on wires, and frames on media, where a packet may be tried again.
    media = {name for name, link in seen.tree["links"].items() if link["kind"] in {"wifi", "frn"}}
    dropped += sum(
        value or 0
        for name, value in seen.metrics.items()
        if name.endswith(".outages.lost") and name.split(".")[1] not in media
    )
    late = [value or 0 for name, value in seen.metrics.items() if name.endswith(".handoff.late")]
    dropped += max(late, default=0)
    if lost > dropped or (lost < dropped and "wifi" not in seen.kinds()):
        yield f"{lost} packets lost, and drops of {dropped:.0f}"


def slots_deliver_or_lose_what_enters(seen: Observed) -> Iterator[str]:
    """Of the packets that enter in the measured time; the accounts know those of the warm-up, too."""
    for link, table in seen.tree["links"].items():
        if table["kind"] != "frn":
            continue
        count = {
            name.rsplit(".", 1)[1]: value
            for name, value in seen.metrics.items()
            if name.startswith(f"links.{link}.") and value is not None
        }
        under_way = count["packets_entered"] - count["packets_delivered"] - count["packets_lost"]
        if under_way != count["packets_held"]:
            held = count["packets_held"]
            yield f"{link}: entered less delivered and lost is {under_way:.0f}, held {held:.0f}"
        if seen.kinds() == {"frn"}:
            shown = sum(terms["on the way"][0] for terms, _ in seen.accounts.values())
            if shown < under_way or (shown > under_way and not seen.has_warmup):
                yield f"{link}: {under_way:.0f} packets neither delivered nor lost, {shown} on the way"


def marks_are_of_flows_that_use_ecn(seen: Observed) -> Iterator[str]:
    """Nothing else is marked; and what nothing marked is not answered.

    Where acknowledgements are lost, the count of accurate ECN may have wrapped: as many marks as that
    allows are then answered (RFC 9768, A.2.2).
    """
    marks = _sum(seen, "links.", ".marks")
    answered = _sum(seen, "flows.", ".marks_answered")
    uses = any(key.endswith(".tcp.ecn") and value != "off" for key, value in seen.settings.items())
    if marks and not uses:
        yield f"{marks:.0f} packets marked without ECN"
    wraps = any(key.endswith(".tcp.ecn") and value == "accurate" for key, value in seen.settings.items())
    if answered and not marks and not wraps and not seen.has_warmup:
        yield f"{answered:.0f} marks answered, none made"


def _sum(seen: Observed, section: str, name: str) -> float:
    metrics = seen.metrics.items()
    return sum(value or 0 for key, value in metrics if key.startswith(section) and key.endswith(name))


def datagrams_are_received_once(seen: Observed) -> Iterator[str]:
    if seen.has_warmup:
        return
    for name in seen.flows:
        sent, received = (seen.metrics.get(f"flows.{name}.packets_{what}") for what in ("sent", "received"))
        if sent is None or received is None:
            continue
        terms, _ = seen.accounts[name]
        if received > sent:
            yield f"{name}: {received:.0f} datagrams received of {sent:.0f} sent"
        if sent != terms["entered"][0]:
            yield f"{name}: {sent:.0f} datagrams sent, {terms['entered'][0]} entered the network"
        again = terms["repeated"][0] if "frn" not in seen.kinds() else terms["delivered"][0]
        if not terms["delivered"][0] - again <= received <= terms["delivered"][0]:
            yield f"{name}: {received:.0f} datagrams received, {terms['delivered'][0]} delivered"


def streams_are_in_order(seen: Observed) -> Iterator[str]:
    """Only received bytes are acknowledged, only sent bytes are received, only written bytes are sent."""
    for name, (_, stream) in seen.accounts.items():
        if stream is None:
            continue
        order = [stream[part] for part in ("received", "sent", "written")]
        # An agent answers in place of the receiver, which its own metrics count.
        if not seen.has_agent("lle-tcp") and not seen.has_agent("i-tcp"):
            order.insert(0, stream["acknowledged"])
        if order != sorted(order) or stream["acknowledged"] > stream["sent"]:
            yield f"{name}: {stream}"


def what_stations_acknowledge_is_counted(seen: Observed) -> Iterator[str]:
    """What is acknowledged and not received is at a station that ends connections, or was lost with one."""
    if seen.has_warmup or seen.has_agent("lle-tcp") or not seen.has_agent("i-tcp"):
        return
    streams = [stream for _, stream in seen.accounts.values() if stream is not None]
    ahead = sum(max(0, stream["acknowledged"] - stream["received"]) for stream in streams)
    counted = sum(
        value or 0
        for name, value in seen.metrics.items()
        if name.startswith("agents.") and name.endswith((".unconfirmed", ".i-tcp.lost_bytes"))
    )
    moved = sum(value or 0 for name, value in seen.metrics.items() if name.endswith(".handoff.state"))
    if ahead > counted + moved:
        yield f"{ahead} bytes acknowledged and not received, {counted:.0f} counted, {moved:.0f} moved"


def whoever_waits_has_a_timer(seen: Observed) -> Iterator[str]:
    for name, (_, stream) in seen.accounts.items():
        if stream is not None and stream["is_stalled"]:
            yield f"{name}: {stream}"


def a_completed_file_is_whole(seen: Observed) -> Iterator[str]:
    for name, app, _ in seen.ends():
        stream = seen.accounts[name][1]
        size = _file_size(seen, app, name)
        if size is None or stream is None:
            continue
        completion = seen.metrics[f"flows.{name}.completion_s"]
        # The FIN counts as a byte.
        if completion is not None and stream["received"] != size + 1:
            yield f"{name}: complete after {completion} s with {stream['received']} of {size} bytes and a FIN"
        if completion is None and stream["received"] > size:
            yield f"{name}: {size} bytes and the FIN are there, and no completion"
        if stream["received"] > size + 1:
            yield f"{name}: {stream['received']} bytes of a file of {size}"


def goodput_is_what_arrived(seen: Observed) -> Iterator[str]:
    """Metrics and bins give the same bytes as the streams."""
    duration_s = seen.run.simulated_s
    for name, app, _ in seen.ends():
        stream = seen.accounts[name][1]
        if stream is None or seen.is_set(f"{app}.kind", "ftp", "web", "mail", "mix"):
            continue
        arrived = stream["received"]
        if not seen.has_warmup:
            goodput = seen.metrics[f"flows.{name}.goodput_bps"]
            assert goodput is not None
            found = goodput * duration_s / 8
            if not arrived - 1 - arrived * ROUNDING <= found <= arrived * (1 + ROUNDING):
                yield f"{name}: goodput makes {found:.1f} bytes of {arrived}"
            throughput = seen.metrics[f"flows.{name}.throughput_bps"]
            assert throughput is not None
            if throughput < goodput * (1 - ROUNDING):
                yield f"{name}: goodput {goodput:.1f} bit/s above throughput {throughput:.1f}"
        series = seen.series.get(f"flows.{name}.goodput_bps")
        if series:
            width_s = seconds(seen.settings["run.bin"])
            last_s = duration_s - width_s * (len(series) - 1)
            found = sum(series[:-1]) * width_s / 8 + series[-1] * last_s / 8
            if not arrived - 1 - 1e-6 * arrived - 1e-3 <= found <= arrived * (1 + 1e-6) + 1e-3:
                yield f"{name}: the bins hold {found:.1f} bytes of {arrived}"


def transfers_are_counted(seen: Observed) -> Iterator[str]:
    columns = seen.transfers
    if not columns:
        return
    for begun, lasted, done, size in zip(
        columns["begun_s"], columns["lasted_s"], columns["done"], columns["bytes"], strict=True
    ):
        if lasted < 0 or begun < 0 or begun + lasted > seen.run.simulated_s * (1 + ROUNDING) or size <= 0:
            yield f"a transfer of {size} bytes begun at {begun} s lasts {lasted} s, done: {done}"
    if not seen.has_warmup:
        per_table = {
            what: sum(
                value or 0
                for name, value in seen.metrics.items()
                if name.endswith(f".transfers_{what}") and name.split(".class.")[0][6:] in seen.flows
            )
            for what in ("begun", "done", "unfinished")
        }
        if per_table["begun"] != per_table["done"] + per_table["unfinished"]:
            yield f"transfers: {per_table}"


def _shown(terms: dict[str, tuple[int, int]], place: int) -> str:
    return ", ".join(f"{term} {tally[place]}" for term, tally in terms.items() if tally[place])


def _file_size(seen: Observed, app: str, name: str) -> int | None:
    if not seen.is_set(f"{app}.kind", "file"):
        return None
    number, unit = seen.settings[f"{app}.file.size"].split()
    if unit.startswith("packet"):
        number, unit = str(int(number) * size_bytes(seen.settings[f"{seen.tcp(name)}.packet"])), "B"
    return size_bytes(f"{number} {unit}")
