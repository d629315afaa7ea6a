"""Fetches an address into a file: fetch.py ADDRESS FILE

Prints "BYTES TOTAL" as it goes on (TOTAL is 0 if it is not known). A download that breaks off goes
on where it was. Proxies and certificates are those of the environment and the system.
"""

import os
import sys
import time
import urllib.error
import urllib.request

ATTEMPTS = 4
PATIENCE_SECONDS = 30
PIECE_BYTES = 1 << 18


def fetch(address: str, path: str) -> bool:
    """Fetches what is missing; whether the file is complete then."""
    have = os.path.getsize(path) if os.path.exists(path) else 0
    request = urllib.request.Request(address, headers={"User-Agent": "mallacc"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        # A server that knows no ranges begins again.
        have = have if getattr(answer, "status", None) == 206 else 0
        length = answer.headers.get("Content-Length")
        total = have + int(length) if length else 0
        with open(path, "ab" if have else "wb") as file:
            while piece := answer.read(PIECE_BYTES):
                file.write(piece)
                have += len(piece)
                print(have, total, flush=True)
    return have >= total


def main() -> int:
    """Tries until the file is there, or there is no hope."""
    address, path = sys.argv[1:]
    said = "the connection broke off"
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(attempt)
        try:
            if fetch(address, path):
                return 0
        except urllib.error.HTTPError as error:
            print(f"error: HTTP {error.code} {error.reason}")
            return 1
        except urllib.error.URLError as error:
            # Nobody answers, or nobody whom the certificates know.
            said = str(error.reason)
            break
        except ValueError as error:
            said = str(error)
            break
        except OSError as error:
            said = str(error) or type(error).__name__
            if error.errno:
                break
        except Exception as error:
            # http.client has more kinds of broken connections than are worth telling apart.
            said = str(error) or type(error).__name__
    print(f"error: {said}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
