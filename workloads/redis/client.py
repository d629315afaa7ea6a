"""A client with a fixed sequence of requests: client.py SOCKET COUNT.

Waits for the server, sends COUNT requests in batches of pipelined ones (strings, hashes, lists,
sorted sets, expiry and deletion, all from a generator with a fixed seed), reads every reply, and
shuts the server down. An error in a reply, or a server that goes away, is a failure.
"""

import io
import socket
import sys
import time

BATCH = 16
KEYS = 2000
# The server runs under a simulator: minutes may pass until it answers.
PATIENCE_SECONDS = 600


def connect(path: str) -> socket.socket:
    """The connection, once the server listens."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
            return connection
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


class Generator:
    """A linear congruential generator (Knuth's MMIX constants), the high half of each step."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, bound: int) -> int:
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 32) * bound >> 32


def request(draw: Generator) -> list[str]:
    """One request as words."""
    kind, key = draw.below(100), draw.below(KEYS)
    if kind < 25:
        return ["SET", f"string:{key}", "x" * (8 + draw.below(200))]
    if kind < 50:
        return ["GET", f"string:{key}"]
    if kind < 60:
        return ["HSET", f"hash:{key % 100}", f"field:{draw.below(200)}", f"value:{key}"]
    if kind < 67:
        return ["HGET", f"hash:{key % 100}", f"field:{draw.below(200)}"]
    if kind < 74:
        return ["LPUSH", f"list:{key % 50}", "y" * (4 + draw.below(60))]
    if kind < 81:
        return ["RPOP", f"list:{key % 50}"]
    if kind < 87:
        return ["ZADD", f"set:{key % 50}", str(draw.below(10000)), f"member:{draw.below(500)}"]
    if kind < 91:
        return ["ZRANGE", f"set:{key % 50}", "0", "9"]
    if kind < 95:
        return ["APPEND", f"string:{key}", "z" * (1 + draw.below(30))]
    if kind < 98:
        return ["DEL", f"string:{key}"]
    return ["INCR", f"counter:{key}"]


def encode(words: list[str]) -> bytes:
    """A request in the server's protocol (RESP)."""
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        data = word.encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)


def reply(stream: io.BufferedReader) -> None:
    """Reads one reply to its end."""
    line = stream.readline()
    if not line.endswith(b"\r\n"):
        raise ConnectionError("the server went away")
    kind, rest = line[:1], line[1:-2]
    if kind == b"-":
        raise RuntimeError(rest.decode(errors="replace"))
    if kind == b"$" and int(rest) >= 0:
        stream.read(int(rest) + 2)
    elif kind == b"*":
        for _ in range(max(int(rest), 0)):
            reply(stream)


def main() -> None:
    path, count = sys.argv[1], int(sys.argv[2])
    connection = connect(path)
    connection.settimeout(PATIENCE_SECONDS)
    stream = connection.makefile("rb")
    draw = Generator(1)
    while count > 0:
        batch = min(BATCH, count)
        connection.sendall(b"".join(encode(request(draw)) for _ in range(batch)))
        for _ in range(batch):
            reply(stream)
        count -= batch
    connection.sendall(encode(["SHUTDOWN", "NOSAVE"]))
    # The server closes the connection when it is gone.
    stream.read()


if __name__ == "__main__":
    try:
        main()
    except (OSError, RuntimeError, ValueError, IndexError) as error:
        sys.exit(f"client.py: {error}")
