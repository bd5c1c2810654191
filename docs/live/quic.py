"""A file by QUIC over Wi-Fi; it needs aioquic (`pip install aioquic`) and openssl."""

import asyncio
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from aioquic.asyncio import connect
from aioquic.quic.configuration import QuicConfiguration

import lasthop as lh

CELL = lh.load(Path(__file__).with_name("cell.toml"))
CASES = {"alone": 0, "beside three downloads": 3}
# It answers each stream with as many bytes as it asks for.
SERVER = """
import asyncio
from aioquic.asyncio import serve
from aioquic.quic.configuration import QuicConfiguration
def answer(reader, writer):
    async def send():
        writer.write(bytes(int(await reader.read())))
        writer.write_eof()
    asyncio.ensure_future(send())
async def main():
    configuration = QuicConfiguration(is_client=False)
    configuration.load_cert_chain("cert.pem", "key.pem")
    await serve("0.0.0.0", 4433, configuration=configuration, stream_handler=answer)
    await asyncio.Future()
asyncio.run(main())
"""


async def fetch(size: int) -> bytes:
    configuration = QuicConfiguration(is_client=True, verify_mode=ssl.CERT_NONE)
    async with connect("server", 4433, configuration=configuration) as connection:
        reader, writer = await connection.create_stream()
        writer.write(str(size).encode())
        writer.write_eof()
        return await reader.read()


def main(size: int = 5_000_000) -> None:
    print("| a file by QUIC | rate | packets late (99 %) |\n| --- | --- | --- |")
    for name, busy in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            words = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=server -keyout key.pem -out cert.pem"
            subprocess.run(words.split(), cwd=folder, check=True, stderr=subprocess.DEVNULL)
            with lh.live(CELL.set({"nodes.busy.count": busy}), ["client", "server"]) as net:
                net.node("server").start([sys.executable, "-c", SERVER], port=4433, cwd=folder)
                with net.node("client"):
                    begun = time.monotonic()
                    assert len(asyncio.run(fetch(size))) == size
                    rate = 8 * size / (time.monotonic() - begun)
        print(f"| {name} | {rate / 1e6:.1f} Mbit/s | {1e3 * net.outcome.late_p99_s:.2f} ms |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
