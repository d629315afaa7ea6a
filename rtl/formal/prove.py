"""Proves the assertions of one harness: yosys writes an AIGER file, abc decides it.

prove.py HARNESS SOURCES... [--bound N] [--param NAME=VALUE]... [--build DIR]

Without --bound the proof is unbounded (property-directed reachability); with it, bounded.
"""

import argparse
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Protocol, TypeVarTuple

Rest = TypeVarTuple("Rest")


class Options(argparse.Namespace):
    """The command line."""

    harness: str
    sources: list[str]
    bound: int | None
    param: list[str]
    build: str
    seconds: int


class Yosys(Protocol):
    """What is used of pyosys, which comes without stubs."""

    __file__: str

    def Design(self) -> object: ...
    def run_pass(self, command: str, design: object) -> None: ...


def arguments() -> Options:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("harness", help="the harness module; its file is HARNESS.sv beside this")
    parser.add_argument("sources", nargs="+", help="the design's SystemVerilog files")
    parser.add_argument("--bound", type=int, help="cycles of a bounded proof")
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--build", default=".", help="folder for intermediate files")
    parser.add_argument("--seconds", type=int, default=600, help="time limit")
    return parser.parse_args(namespace=Options())


def in_child(log: pathlib.Path, function: Callable[[*Rest], None], *rest: *Rest) -> None:
    """Runs a yosys job in a child process: output goes to a log, errors end only the child."""
    child = os.fork()
    if child == 0:
        descriptor = os.open(log, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        function(*rest)
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        print("".join(pathlib.Path(log).read_text().splitlines(True)[-5:]))
        sys.exit(f"formal: yosys failed; see {log}")


def elaborate(options: Options, ys: Yosys) -> object:
    """The harness and the design, flat, with one cell per assertion and assumption."""
    source = pathlib.Path(__file__).parent / f"{options.harness}.sv"
    defines = "-D MALLOC_CACHE_ANY_SIZE=1 -D MALLOC_CACHE_ASSERT=1"
    parameters = "".join(f" -G {parameter}" for parameter in options.param)
    sources = " ".join([*options.sources, str(source)])
    design = ys.Design()
    for command in (
        f"read_slang {defines}{parameters} --top {options.harness} {sources}",
        f"prep -flatten -top {options.harness}",
        "memory_map",
        "async2sync",
        "chformal -lower",
    ):
        ys.run_pass(command, design)
    return design


def make_aiger(options: Options, ys: Yosys, aiger: pathlib.Path, only: str | None = None) -> None:
    """An and-inverter graph: one output per assertion, one constraint per assumption."""
    design = elaborate(options, ys)
    for command in (
        # Either one assertion, or all except those whose failure must be reachable.
        f"delete t:$assert c:{only} %d" if only else "delete t:$assert c:*Reach* %i",
        "select -assert-any t:$assert",
        "opt -full",
        "dffunmap",
        "techmap",
        "opt -fast -nodffe -nosdff",
        "aigmap",
        "opt_clean",
        f"write_aiger -zinit -map {aiger}.map {aiger}",
    ):
        ys.run_pass(command, design)


def list_reach(options: Options, ys: Yosys, listing: pathlib.Path) -> None:
    """Lists the assertions that must fail somewhere; if they cannot, a proof may be vacuous."""
    design = elaborate(options, ys)
    ys.run_pass(f"tee -o {listing} select -list t:$assert c:*Reach* %i", design)


def abc(ys: Yosys, script: str, log: pathlib.Path) -> str:
    """Runs abc and returns what it prints."""
    tool = pathlib.Path(ys.__file__).parent / "yosys-abc"
    run = subprocess.run([tool, "-c", script], capture_output=True, text=True, check=False)
    log.write_text(run.stdout + run.stderr)
    return run.stdout


def main() -> None:
    options = arguments()
    try:
        from pyosys import libyosys as ys
    except ImportError:
        sys.exit("formal: pyosys is missing; run make rtl-setup")
    build = pathlib.Path(options.build)
    build.mkdir(parents=True, exist_ok=True)
    name = "-".join([options.harness, *options.param]).replace("=", "")
    aiger, log = build / f"{name}.aig", build / f"{name}.abc.log"
    yosys_log, listing = build / f"{name}.yosys.log", build / f"{name}.reach"

    in_child(yosys_log, list_reach, options, ys, listing)
    for line in listing.read_text().split():
        reach = line.split("/", 1)[1]
        in_child(yosys_log, make_aiger, options, ys, aiger, reach)
        out = abc(ys, f"read_aiger {aiger}; fold; orpos; strash; bmc3 -F 40 -T 120", log)
        if "was asserted" not in out:
            sys.exit(f"formal: {name}: {reach} is not reachable: the proof would say nothing")

    in_child(yosys_log, make_aiger, options, ys, aiger)
    engine = f"bmc3 -F {options.bound}" if options.bound else "pdr"
    script = f"read_aiger {aiger}; fold; orpos; strash; print_stats; "
    script += f"{engine} -T {options.seconds}"
    out = abc(ys, script, log)
    kind = f"for {options.bound} cycles" if options.bound else "for all time"
    bounded = options.bound and f"No output asserted in {options.bound} frames" in out
    if "was asserted" in out or not ("Property proved" in out or bounded):
        print(out[-1500:])
        sys.exit(f"formal: {name} is not proved {kind}; see {log}")
    print(f"formal: {name}: all assertions hold {kind}")


if __name__ == "__main__":
    main()
