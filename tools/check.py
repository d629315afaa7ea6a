#!/usr/bin/env python3
"""The quick loop: formatting, clippy, the tests of what changed, the rules of the repository.

    check.py [--base REV] [--jobs N]

What changed is what differs from REV, by default the last commit, in files that git knows or does
not ignore. Tests that run programs under QEMU or a browser are left to `make test`.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Packages whose integration tests take long or need QEMU or a browser: their unit tests alone run.
UNIT_TESTS_ONLY = {"mallacc", "mallacc-launch", "mallacc-report", "sma", "sma-c"}
# The recorder is a library for C programs, the fuzz target needs another compiler.
UNTESTED = {"mallacc-recorder", "sma-fuzz"}


def lines(command: list[str]) -> list[str]:
    """What a command prints."""
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def changed(base: str) -> list[str]:
    """Files that differ from a revision, and new ones."""
    known = lines(["git", "diff", "--name-only", base])
    return known + lines(["git", "ls-files", "--others", "--exclude-standard"])


def package(file: str) -> pathlib.Path | None:
    """The folder of the package that a file belongs to."""
    folders = (ROOT / file).relative_to(ROOT).parents
    found = (ROOT / folder for folder in folders if str(folder) != ".")
    return next((folder for folder in found if (folder / "Cargo.toml").is_file()), None)


def test(folder: pathlib.Path) -> list[str]:
    """The command that tests a package; empty if there is nothing to test."""
    manifest = tomllib.loads((folder / "Cargo.toml").read_text(encoding="utf-8"))
    name = str(manifest["package"]["name"])
    if name in UNTESTED:
        return []
    targets = []
    if (folder / "src").is_dir():
        targets = ["--lib"] if (folder / "src/lib.rs").is_file() else ["--bins"]
    if (folder / "tests").is_dir() and name not in UNIT_TESTS_ONLY:
        targets.append("--tests")
    return ["cargo", "test", "--quiet", "-p", name, *targets] if targets else []


def main() -> int:
    """Runs everything; the first failure ends it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="HEAD", help="the revision to compare with")
    parser.add_argument("--jobs", default="2", help="parallel jobs")
    options = parser.parse_args()
    folders = {folder for file in changed(options.base) if (folder := package(file))}
    folders.add(ROOT / "crates/repository")
    clippy = ["cargo", "clippy", "--quiet", "--workspace", "--all-targets"]
    commands = [
        ["cargo", "fmt", "--all", "--check"],
        [*clippy, "-j", options.jobs, "--", "-D", "warnings"],
        *(command + ["-j", options.jobs] for command in map(test, sorted(folders)) if command),
    ]
    for command in commands:
        print("$", *command, flush=True)
        start = time.monotonic()
        if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
            return 1
        print(f"  {time.monotonic() - start:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
