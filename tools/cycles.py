#!/usr/bin/env python3
"""Whether the simulator still counts what it counted before, to the digit.

    cycles.py trace  --mallacc BIN DIR                record the programs once into DIR
    cycles.py record --mallacc BIN --counters BIN DIR OUT.json   simulate them, keep every figure
    cycles.py compare BEFORE.json AFTER.json          differences; exit status 1 if there are any

The programs are all microbenchmarks and all workloads at `--size small`; the configurations are
every accelerator and every ablation, on haswell, haswell-user (the same at user level) and
goldencove, whole and sampled. `record` also keeps `validate memory` and, with `--blocks FILE`,
`validate blocks`. `--mallacc` is the command, `--counters` the example `counters` of the crate
mallacc-sim, which prints the counters that no report shows as well. A figure that is only in AFTER
counts as an addition, not as a difference.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MICRO = ["antagonist", "gauss", "gauss_free", "sized_deletes", "tp", "tp_small"]
PARTS = ["size_class", "list", "sampling"]
# What a report says about its own making.
NOT_FIGURES = {"host_seconds", "mips", "started", "git_revision", "tool_version", "id"}
SAMPLE = "400k:60k:40k"
Figures = dict[str, object]


def configurations() -> list[str]:
    """Every accelerator with its usual settings, switched off, and every ablation."""
    off = {part: ",".join(f"{p}=off" for p in PARTS if p != part) for part in PARTS}
    specs = ["baseline=none", "m16=mallacc:entries=16", "m32=mallacc:entries=32", "limit=limit"]
    specs += ["m4=mallacc:entries=4", "m32/no_index=mallacc:entries=32,index=off"]
    specs += [f"m32/{part}=mallacc:entries=32,{rest}" for part, rest in off.items()]
    specs += [f"limit/{part}=limit:{rest}" for part, rest in off.items()]
    return specs


def call(command: list[str]) -> str:
    """The command's stdout; its stderr ends this program if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"cycles: {' '.join(command)}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def user_level(folder: str) -> str:
    """haswell, whose values are the defaults, without the operating system's time."""
    path = pathlib.Path(folder) / "haswell-user.toml"
    path.write_text('name = "haswell-user"\n[core]\nsyscall = 0\n[memory.page_fault]\ncycles = 0\n')
    return str(path)


def trace(mallacc: str, folder: pathlib.Path) -> None:
    """Records every installed program into DIR."""
    folder.mkdir(parents=True, exist_ok=True)
    root = pathlib.Path(__file__).resolve().parent.parent
    micro = os.environ.get("MALLACC_MICRO", str(root / "guest" / "build" / "micro"))
    jobs = [
        (name, ["--", f"{micro}/{name}", "--iterations", "4096", "--repeats", "4"])
        for name in MICRO
    ]
    for path in sorted((root / "workloads").glob("*.toml")):
        jobs.append((path.stem, ["--workload", path.stem, "--size", "small"]))
    for name, program in jobs:
        output = folder / f"{name}.mtrace"
        command = [mallacc, "record", "--quiet", "--deterministic", "-o", str(output), *program]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        print(f"cycles: {name}: {'recorded' if done.returncode == 0 else 'NOT recorded'}")
        if done.returncode != 0:
            output.unlink(missing_ok=True)


def flat(value: object, path: str, into: Figures) -> None:
    """The figures of a JSON document by path; lists of named things by their names."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in NOT_FIGURES:
                flat(inner, f"{path}/{key}", into)
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            name = inner.get("name", position) if isinstance(inner, dict) else position
            flat(inner, f"{path}/{name}", into)
    else:
        into[path] = value


def simulate(job: tuple[str, str, pathlib.Path, str, str, str]) -> tuple[str, Figures]:
    """One trace on one machine, whole or sampled: what is reported and what is counted."""
    mallacc, counters, path, machine, name, sample = job
    figures: Figures = {}
    specs = configurations()
    grid = ["--no-sample"] if sample == "whole" else ["--sample", sample]
    options = [word for spec in specs for word in ("--config", spec)]
    command = [mallacc, "replay", str(path), "--quiet", "--no-store", "--format", "json"]
    report = json.loads(call([*command, "--machine", machine, *grid, *options]))
    flat(report, "report", figures)
    for line in call([counters, str(path), machine, sample, *specs]).splitlines():
        configuration, counter, value = line.split(" ", 2)
        figures[f"counters/{configuration}/{counter}"] = value
    return f"{path.stem} on {name}, {sample}", figures


def record(arguments: argparse.Namespace) -> None:
    """Simulates every trace of DIR and writes every figure to OUT."""
    mallacc = arguments.mallacc
    everything: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory() as folder:
        machines = [("haswell", "haswell"), ("haswell-user", user_level(folder))]
        machines.append(("goldencove", "goldencove"))
        traces = sorted(arguments.folder.glob("*.mtrace"))
        if arguments.only:
            traces = [path for path in traces if path.stem in arguments.only.split(",")]
        jobs = [
            (mallacc, arguments.counters, path, machine, name, sample)
            for path in traces
            for name, machine in machines
            for sample in (["whole", SAMPLE] if name == "haswell" else ["whole"])
        ]
        for title, figures in map(simulate, jobs):
            everything[title] = figures
            print(f"cycles: {title}: {len(figures):,} figures", flush=True)
    everything["validate memory"] = {"text": call([mallacc, "validate", "memory"])}
    if arguments.blocks:
        for machine in ("haswell", "goldencove"):
            command = [mallacc, "validate", "blocks", arguments.blocks, "--machine", machine]
            text = call([*command, "--worst", "100000"])
            text = re.sub(r"(?m)^.*blocks/s.*$", "", text)
            lines: Figures = {
                f"line {number}": line for number, line in enumerate(text.splitlines())
            }
            everything[f"validate blocks on {machine}"] = lines
    arguments.out.write_text(json.dumps(everything, indent=1) + "\n")
    total = sum(len(figures) for figures in everything.values())
    print(f"cycles: {total:,} figures of {len(everything)} runs in {arguments.out}")


def compare(before: pathlib.Path, after: pathlib.Path) -> int:
    """Prints what differs and returns how many figures do."""
    old, new = (json.loads(path.read_text()) for path in (before, after))
    equal = differ = added = 0
    for title, figures in old.items():
        if title not in new:
            print(f"{title}: missing")
            differ += len(figures)
            continue
        lines = []
        for name, value in figures.items():
            found = new[title].get(name, "missing")
            if found == value:
                equal += 1
            else:
                lines.append(f"  {name}: {value} -> {found}")
        added += len(new[title].keys() - figures.keys())
        differ += len(lines)
        if lines:
            more = f"\n  … {len(lines) - 20} more" if len(lines) > 20 else ""
            print(f"{title}: {len(lines)} differ\n" + "\n".join(lines[:20]) + more)
    print(f"{equal:,} figures equal, {differ:,} differ, {added:,} added")
    return differ


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    tracing = commands.add_parser("trace", help="record the programs once")
    recording = commands.add_parser("record", help="simulate them and keep every figure")
    for command in (tracing, recording):
        command.add_argument("--mallacc", required=True, help="the command")
        command.add_argument("folder", type=pathlib.Path, help="where the traces are")
    recording.add_argument("--counters", required=True, help="the example of mallacc-sim")
    recording.add_argument("--blocks", help="measured blocks for `validate blocks`")
    recording.add_argument("--only", help="these traces, separated by commas")
    recording.add_argument("out", type=pathlib.Path)
    comparing = commands.add_parser("compare", help="two files of `record`")
    comparing.add_argument("before", type=pathlib.Path)
    comparing.add_argument("after", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.command == "trace":
        trace(arguments.mallacc, arguments.folder)
    elif arguments.command == "record":
        record(arguments)
    elif compare(arguments.before, arguments.after) > 0:
        sys.exit(1)


if __name__ == "__main__":
    main()
