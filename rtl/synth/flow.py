"""Area and timing of the malloc cache: yosys maps it to a library, OpenSTA finds the longest path.

flow.py --liberty PATH --build DIR --json FILE [--config E:P:STORAGE]...

Nothing is placed or routed: the area is that of the cells, without wires or a clock tree, and the
clock is ideal.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypedDict, TypeVarTuple

import liberty

Rest = TypeVarTuple("Rest")
# Entries, pointer bits, name of the storage.
Config = tuple[int, int, str]
STORAGES = ("flop", "gated", "latch")
# Mallacc paper, section 6.4: CACTI 6.5+ for 16 entries at 28 nm, in um^2.
CACTI_UM2 = {"CAM": 873, "SRAM": 346, "index": 265}
# From ASAP7 to 28 nm by cell geometry: contacted gate pitch 54 nm and 7.5 tracks of 36 nm (Clark
# et al., "ASAP7", Microelectronics Journal 53, 2016) against 117 nm and 7 to 12 tracks of 90 nm
# (28 nm row of WikiChip's process table, TSMC).
SCALE_28NM = {
    "asap7": (117 / 54 * 7 * 90 / 270, 117 / 54 * 12 * 90 / 270),
    # The generic library counts gate equivalents: a NAND2 is 4 gate pitches wide in ASAP7, 3 at
    # best.
    "generic": (3 * 0.117 * 7 * 0.090, 4 * 0.117 * 12 * 0.090),
}


# The period that abc optimises for: 2 GHz, the order of the core's clock (3.2 GHz in the paper).
TARGET_PS = 500


class Options(argparse.Namespace):
    """The command line."""

    liberty: str
    build: pathlib.Path
    json: pathlib.Path | None
    config: list[str] | None
    sources: list[str]


class Yosys(Protocol):
    """What is used of pyosys, which comes without stubs."""

    def Design(self) -> object: ...
    def run_pass(self, command: str, design: object) -> None: ...


class Row(TypedDict):
    """A row of the table; areas are in the library's unit unless the name says otherwise."""

    entries: int
    pointer_bits: int
    storage: str
    cells: int
    flops: int
    latches: int
    clock_gates: int
    area: float
    gate_equivalents: int
    critical_path_ps: float
    area_28nm_um2: list[int] | None


def arguments() -> Options:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--liberty", required=True, help="Liberty file, or a folder of them")
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path, help="where the table goes")
    parser.add_argument("--config", action="append", help="entries:pointer bits:storage name")
    parser.add_argument("sources", nargs="+")
    return parser.parse_args(namespace=Options())


def uses_gate(library: liberty.Library, storage: str) -> bool:
    """Whether the design's clock gates become cells of the library."""
    return storage != "flop" and library.smallest("is_gate") is not None


def techmap_text(library: liberty.Library, storage: str) -> str:
    """Maps the design's clock gate and latches to the library's cells."""
    text = ""
    gate, latch = library.smallest("is_gate"), library.smallest("is_latch")
    if gate is not None and uses_gate(library, storage):
        ports = f".{gate.pins['clock']}(clk_i), .{gate.pins['enable']}(en_i), "
        ports += f".{gate.pins['out']}(clk_o)"
        if "test" in gate.pins:
            ports += f", .{gate.pins['test']}(1'b0)"
        text += "module prim_clock_gate(input clk_i, input en_i, output clk_o);\n"
        text += f"  {gate.name} _TECHMAP_REPLACE_ ({ports});\nendmodule\n"
    if storage == "latch":
        if latch is None:
            raise liberty.LibertyError(
                f"{library.name}: no transparent latch; leave out the latch storage (--config)"
            )
        pins = latch.pins
        text += "module \\$_DLATCH_P_ (input E, input D, output Q);\n"
        text += f"  {latch.name} _TECHMAP_REPLACE_ (.{pins['enable']}(E), .{pins['data']}(D), "
        text += f".{pins['out']}(Q));\nendmodule\n"
    return text


def synthesize(
    ys: Yosys,
    library: liberty.Library,
    options: Options,
    config: Config,
    netlist: pathlib.Path,
) -> None:
    """Maps one configuration and writes its netlist."""
    entries, pointer, storage = config
    xlen = 64 if pointer > 32 else 32
    build = netlist.parent
    maps = build / "map.v"
    maps.write_text(techmap_text(library, storage))
    libs = " ".join(f"-liberty {path}" for path in library.files)
    parameters = f"-G Entries={entries} -G PtrWidth={pointer} -G Xlen={xlen} "
    parameters += f"-G Storage={STORAGES.index(storage)}"
    if uses_gate(library, storage):
        parameters += " --blackboxed-module prim_clock_gate"
    # Lets abc buffer large fan-outs; each output drives four inverters at most.
    constraints = build / "abc.constr"
    driver = library.buffer().name
    constraints.write_text(f"set_driving_cell {driver}\nset_load 4.0 [all_outputs]\n")
    design = ys.Design()
    for command in (
        f"read_slang {parameters} --top malloc_unit {' '.join(options.sources)}",
        "hierarchy -top malloc_unit",
        "synth -flatten -noabc -top malloc_unit",
        f"techmap -map {maps}",
        "opt -full",
        f"dfflibmap {' '.join(f'-dont_use {name}' for name in library.larger_flops())} {libs}",
        "opt",
        f"abc -D {TARGET_PS} -constr {constraints} {libs}",
        "setundef -zero",
        "splitnets",
        "opt_clean -purge",
        f"tee -o {build}/stat.json stat -json {libs}",
        f"write_verilog -noattr -noexpr -simple-lhs {netlist}",
    ):
        ys.run_pass(command, design)


def in_child(log: pathlib.Path, function: Callable[[*Rest], None], *rest: *Rest) -> None:
    """Runs a yosys job in a child process and sends its output to a log."""
    child = os.fork()
    if child == 0:
        descriptor = os.open(log, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        function(*rest)
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        print("".join(pathlib.Path(log).read_text(errors="replace").splitlines(True)[-5:]))
        sys.exit(f"area: yosys failed; see {log}")


def latch_exceptions(library: liberty.Library, netlist: pathlib.Path) -> Iterator[str]:
    """Commands that exempt the paths into latches.

    A latch is open only in the cycle after its operand was executed: what it passes has been stable
    for a cycle and is not used before the next one (src/malloc_cache_word.sv).
    """
    latch = library.smallest("is_latch")
    if latch is None:
        return
    for name in re.findall(rf"^\s*{latch.name} (\S+) \(", netlist.read_text(), re.M):
        yield f"set_false_path -to {name}/{latch.pins['data']}"


def timing(library: liberty.Library, netlist: pathlib.Path) -> float:
    """The longest path in ps, from OpenSTA."""
    if shutil.which("sta") is None:
        sys.exit("area: OpenSTA (sta) is missing; run make rtl-setup")
    period = 100_000 / library.time_unit_ps
    script = netlist.with_suffix(".tcl")
    lines = [f"read_liberty {path}" for path in library.files]
    lines += [
        f"read_verilog {netlist}",
        "link_design malloc_unit",
        f"create_clock -name clk -period {period} clk_i",
        "set_input_delay 0 -clock clk [all_inputs]",
        "set_false_path -from rst_ni",
        "set_output_delay 0 -clock clk [all_outputs]",
        *latch_exceptions(library, netlist),
        "report_checks -path_delay max -format full",
        "exit",
    ]
    script.write_text("\n".join(lines) + "\n")
    command = ["sta", "-no_splash", "-exit", str(script)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    netlist.with_suffix(".sta.log").write_text(run.stdout + run.stderr)
    slacks = [float(slack) for slack in re.findall(r"(-?[\d.]+)\s+slack", run.stdout)]
    if not slacks:
        sys.exit(f"area: OpenSTA found no path; see {netlist.with_suffix('.sta.log')}")
    return (period - min(slacks)) * library.time_unit_ps


def measure(ys: Yosys, library: liberty.Library, options: Options, config: Config) -> Row:
    """One row of the table."""
    entries, pointer, storage = config
    build = options.build / f"{library.name}-e{entries}-p{pointer}-{storage}"
    build.mkdir(parents=True, exist_ok=True)
    netlist = build / "netlist.v"
    in_child(build / "yosys.log", synthesize, ys, library, options, config, netlist)
    stat = (build / "stat.json").read_text()
    counted = json.loads(stat[stat.index("{") : stat.rindex("}") + 1])["design"]
    kinds: dict[str, int] = counted["num_cells_by_type"]
    unknown = [name for name in kinds if name not in library.cells]
    if unknown:
        sys.exit(f"area: cells the library does not have: {', '.join(unknown)}; the area is void")
    area = sum(count * library.cells[name].area for name, count in kinds.items())
    total = {
        what: sum(n for name, n in kinds.items() if getattr(library.cells[name], what))
        for what in ("is_flop", "is_latch", "is_gate")
    }
    scale = next((value for key, value in SCALE_28NM.items() if key in library.name), None)
    return {
        "entries": entries,
        "pointer_bits": pointer,
        "storage": storage,
        "cells": sum(kinds.values()),
        "flops": total["is_flop"],
        "latches": total["is_latch"],
        "clock_gates": total["is_gate"],
        "area": round(area, 2),
        "gate_equivalents": round(area / library.nand2_area()),
        "critical_path_ps": round(timing(library, netlist), 1),
        "area_28nm_um2": [round(area * s) for s in scale] if scale else None,
    }


def show(rows: Iterable[Row], library: liberty.Library) -> None:
    """Prints the table."""
    print(f"library {library.name}: gate equivalent {library.nand2_area()} (smallest NAND2)")
    print(
        "entries ptr storage   cells  flops latches  gates      area      GE  path ps   28 nm um^2"
    )
    for row in rows:
        low, high = row["area_28nm_um2"] or ("-", "-")
        print(
            f"{row['entries']:7} {row['pointer_bits']:3} {row['storage']:7} {row['cells']:7} "
            f"{row['flops']:6} {row['latches']:7} {row['clock_gates']:6} {row['area']:9.1f} "
            f"{row['gate_equivalents']:7} {row['critical_path_ps']:8.0f}   {low}-{high}"
        )
    total = sum(CACTI_UM2.values())
    parts = " + ".join(f"{name} {value}" for name, value in CACTI_UM2.items())
    print(
        f"paper, 16 entries, 48 bits, 28 nm, CACTI 6.5+ and scaled adders: {parts} = {total} um^2"
    )


def main() -> None:
    options = arguments()
    try:
        from pyosys import libyosys as ys
    except ImportError:
        sys.exit("area: pyosys is missing; run make rtl-setup")
    try:
        library = liberty.read(options.liberty, options.build)
        wanted = options.config or [
            f"{e}:{p}:{s}" for s in STORAGES for p in (32, 48) for e in (4, 8, 16, 32)
        ]
        configs = [(int(e), int(p), s) for e, p, s in (c.split(":") for c in wanted)]
        rows = []
        for config in configs:
            rows.append(measure(ys, library, options, config))
            print(f"area: {config} done", file=sys.stderr)
    except liberty.LibertyError as error:
        sys.exit(f"area: {error}")
    show(rows, library)
    if options.json:
        table = {
            "library": library.name,
            "gate_equivalent_area": library.nand2_area(),
            "source": "yosys (pyosys 0.70), OpenSTA; cells only: no placement, wires or clock tree",
            "scale_to_28nm": "see SCALE_28NM in rtl/synth/flow.py",
            "cacti_28nm_um2": CACTI_UM2,
            "rows": rows,
        }
        options.json.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
