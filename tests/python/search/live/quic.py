"""One end of the connections of a case by QUIC: `python -m search.live.quic PLAN SIDE PEER`.

It writes `SIDE.json` as `endpoint` does. Each connection has one stream, on which the client sends its
name first. The server ends the stream when it has read all, so that its end means that both have.
"""

import asyncio
import datetime as dt
import json
import ssl
import sys
import time
from pathlib import Path

from aioquic.asyncio import connect, serve
from aioquic.quic.configuration import QuicConfiguration
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from search.live.endpoint import GREETING, OTHER, TICK_S, content

NAME = 8
CERTIFICATE, KEY = Path("certificate.pem"), Path("key.pem")


class End:
    """An end of a connection."""

    def __init__(self, plan: dict, connection: dict, side: str) -> None:
        self.of, self.side = connection, side
        name, seed = connection["name"], plan["seed"]
        self.to_write = content(seed, name, side, connection[side]["size"])
        self.expected = content(seed, name, OTHER[side], connection[OTHER[side]]["size"])
        self.read, self.has_written, self.is_over = b"", False, False
        self.begun = time.monotonic()

    def report(self) -> dict:
        differs = self.read != self.expected[: len(self.read)]
        return {
            "written": len(self.to_write) if self.has_written else 0,
            "read": len(self.read),
            "is_over": self.is_over,
            "fault": "differs" if differs else None,
            "samples": [],
            "lasted_s": time.monotonic() - self.begun,
            "info": {},
        }

    async def run(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = {("request", "server"): len(self.expected), ("greeting", "client"): GREETING}
        await self._read(reader, min(first.get((self.of["order"], self.side), 0), len(self.expected)))
        writer.write(self.to_write)
        self.has_written = True
        await self._read(reader, len(self.expected))
        writer.write_eof()
        if self.side == "client":
            await reader.read()
        self.is_over = True

    async def _read(self, reader: asyncio.StreamReader, until: int) -> None:
        while len(self.read) < until and (some := await reader.read(until - len(self.read))):
            self.read += some


def certify() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    begins = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    made = x509.CertificateBuilder().issuer_name(name).subject_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(begins).not_valid_after(begins.replace(year=2120))
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    CERTIFICATE.write_bytes(made.sign(key, hashes.SHA256()).public_bytes(pem))
    KEY.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))


def configuration(plan: dict, *, is_client: bool) -> QuicConfiguration:
    law = plan["quic"]
    return QuicConfiguration(is_client=is_client, verify_mode=ssl.CERT_NONE, congestion_control_algorithm=law)


async def serve_all(plan: dict, ends: list[End]) -> None:
    every = {one["name"]: one for lane in plan["lanes"] for one in lane}
    tasks = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(answer(reader, writer)))

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name = (await reader.readexactly(NAME)).decode().strip()
        ends.append(End(plan, every[name], "server"))
        await ends[-1].run(reader, writer)

    certify()
    own = configuration(plan, is_client=False)
    own.load_cert_chain(CERTIFICATE, KEY)
    for lane in plan["lanes"]:
        await serve("0.0.0.0", lane[0]["port"], configuration=own, stream_handler=begin)
    Path("ready").touch()
    await asyncio.Future()


async def ask_all(plan: dict, ends: list[End], peer: str) -> None:
    async def ask(lane: list[dict]) -> None:
        for one in lane:
            ends.append(end := End(plan, one, "client"))
            async with connect(peer, one["port"], configuration=configuration(plan, is_client=True)) as to:
                reader, writer = await to.create_stream()
                writer.write(one["name"].encode().ljust(NAME))
                await end.run(reader, writer)

    while not Path("ready").exists():
        await asyncio.sleep(TICK_S)
    await asyncio.gather(*map(ask, plan["lanes"]))


async def main(file: str, side: str, peer: str) -> None:
    plan = json.loads(Path(file).read_text())
    until = time.monotonic() + plan["limit_s"]
    ends: list[End] = []
    task = asyncio.ensure_future(serve_all(plan, ends) if side == "server" else ask_all(plan, ends, peer))
    count = sum(map(len, plan["lanes"]))
    while (len(ends) < count or not all(end.is_over for end in ends)) and time.monotonic() < until:
        if task.done():
            task.result()
        await asyncio.sleep(TICK_S)
    spare = Path(f"{side}.part")
    done = {end.of["name"]: end.report() for end in ends}
    spare.write_text(json.dumps({"connections": done, "counters": {}}))
    spare.rename(f"{side}.json")
    # What this end has sent last may still have to be sent again.
    while not Path(f"{OTHER[side]}.json").exists() and time.monotonic() < until + 2:
        await asyncio.sleep(TICK_S)
    task.cancel()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
