#!/usr/bin/env python3
"""Whether two versions of QEMU give the same stream and the same cycles.

    qemus.py --mallacc BIN --diff BIN [--full] [--only PROGRAM] QEMU QEMU

Records programs under both, in deterministic runs: the test program of unusual accesses, Perl,
Python, a program that replaces itself twice, all microbenchmarks, and all workloads (`--size
small`, or whole with --full). Compares the recordings word by word and, wherever blocks begin and
end, instruction by instruction; and the cycles and all other figures of their replays. `--diff` is
the example `trace_diff` of the crate mallacc-launch.

A program that is recorded twice under the first QEMU and differs depends on something else, such as
process numbers, and is left out. The exit status is 1 if instructions or figures differ.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MICRO = ["antagonist", "gauss", "gauss_free", "sized_deletes", "tp", "tp_small"]
ITERATIONS = ["--iterations", "2000", "--repeats", "2"]
CONFIGURATIONS = ["none", "mallacc:entries=16", "mallacc:entries=32", "limit"]
# What a report says about its own making.
NOT_FIGURES = {"host_seconds", "mips", "started", "git_revision", "tool_version", "id", "trace"}
Programs = dict[str, list[str]]


@dataclasses.dataclass
class Tools:
    """The programs of this build."""

    mallacc: str
    diff: str

    def record(self, qemu: str, command: list[str], to: pathlib.Path) -> None:
        """Records a program under a QEMU."""
        environment = {**os.environ, "MALLACC_QEMU": qemu}
        done = subprocess.run(
            [self.mallacc, "record", "-q", "--deterministic", "-o", str(to), *command],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if not to.exists():
            sys.exit(f"qemus: {qemu}: {' '.join(command)}: {done.stderr}")

    def same(self, one: pathlib.Path, other: pathlib.Path, *options: str) -> bool:
        """Whether two recordings are the same."""
        command = [self.diff, *options, str(one), str(other)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return "are the same" in done.stdout.splitlines()[0]

    def figures(self, recording: pathlib.Path) -> object:
        """Everything that a replay counts."""
        options = [part for spec in CONFIGURATIONS for part in ("--config", spec)]
        done = subprocess.run(
            [self.mallacc, "replay", "-q", "--no-store", "--no-sample", "--seeds", "1"]
            + ["--format", "json", *options, str(recording)],
            capture_output=True,
            text=True,
            check=True,
        )
        return only_figures(json.loads(done.stdout))


def only_figures(value: object) -> object:
    """A document without what it says about its own making."""
    if isinstance(value, dict):
        return {k: only_figures(v) for k, v in value.items() if k not in NOT_FIGURES}
    if isinstance(value, list):
        return [only_figures(item) for item in value]
    return value


def cycles(figures: object) -> str:
    """The cycles of the first configuration, for people."""
    if isinstance(figures, dict) and figures.get("configurations"):
        return f"{figures['configurations'][0]['cycles']:,}"
    return "?"


def programs(folder: pathlib.Path, full: bool) -> Programs:
    """What to record: name, and the arguments behind the options."""
    accesses = folder / "accesses"
    source = ROOT / "crates/launch/tests/programs/accesses.c"
    subprocess.run(["gcc", "-O1", "-o", str(accesses), str(source)], check=True)
    again = 'exec "/usr/bin/perl", "-e", q(print 1; exec "/bin/ls", "/")'
    found = {
        "accesses": ["--", str(accesses)],
        "perl": ["--", "perl", "-e", "print join ',', map { $_ * 2 } 1..1000"],
        "python": ["--", "/usr/bin/python3", "-c", "print({1, 2, 'a'})"],
        "exec": ["--", "perl", "-e", again],
    }
    for name in MICRO:
        found[name] = ["--", str(ROOT / "guest/build/micro" / name), *ITERATIONS]
    for file in sorted((ROOT / "workloads").glob("*.toml")):
        size = "full" if full else "small"
        found[f"workload {file.stem}"] = ["--workload", file.stem, "--size", size]
    return found


def compare(tools: Tools, qemus: list[str], command: list[str], folder: pathlib.Path) -> str:
    """The result for one program, a line: it begins with "FAILED" if figures differ."""
    one, other = folder / "one.mtrace", folder / "other.mtrace"
    try:
        tools.record(qemus[0], command, one)
        tools.record(qemus[1], command, other)
        words, instructions = tools.same(one, other), tools.same(one, other, "--flat")
        figures = tools.figures(one)
        if words:
            return f"same words         {cycles(figures):>15} cycles"
        second = tools.figures(other)
        if instructions and figures == second:
            return f"same instructions  {cycles(figures):>15} cycles, other blocks"
        tools.record(qemus[0], command, other)
        if not tools.same(one, other):
            return "left out: not the same twice under the first QEMU either"
        what = "same instructions" if instructions else "other instructions"
        return f"FAILED: {what}, {cycles(figures)} and {cycles(second)} cycles"
    finally:
        for recording in (one, other):
            recording.unlink(missing_ok=True)


def main() -> int:
    """Compares all programs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--mallacc", required=True)
    parser.add_argument("--diff", required=True)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", action="append", metavar="PROGRAM", help="may be repeated")
    parser.add_argument("qemus", nargs=2, metavar="QEMU")
    arguments = parser.parse_args()
    tools = Tools(arguments.mallacc, arguments.diff)
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for program, command in programs(folder, arguments.full).items():
            if arguments.only and program not in arguments.only:
                continue
            result = compare(tools, arguments.qemus, command, folder)
            failed += result.startswith("FAILED")
            print(f"{program:26} {result}", flush=True)
    print(f"{failed} programs differ" if failed else "no program differs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
