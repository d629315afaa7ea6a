"""Just enough of Liberty: which cells a library has, their areas and what they are for.

A library is a file or a folder of files, plain or gzipped; all parts must share their units.
"""

import dataclasses
import gzip
import pathlib
import re
from collections.abc import Iterator
from typing import Literal

TIME_UNITS_PS = {"1ps": 1.0, "10ps": 10.0, "100ps": 100.0, "1ns": 1000.0}


# The kinds of cell that are looked for, by the field that says so.
Kind = Literal["is_flop", "is_latch", "is_gate"]


class LibertyError(Exception):
    """The library cannot be used; the message says why and what to do."""


@dataclasses.dataclass
class Cell:
    """A cell: area in the library's unit, and its pins by role."""

    name: str
    area: float
    is_flop: bool = False
    is_latch: bool = False
    is_gate: bool = False  # an integrated clock gate
    function: str = ""  # of the output, if there is exactly one
    pins: dict[str, str] = dataclasses.field(default_factory=dict)  # role -> pin
    inputs: int = 0
    kind: tuple[bool, ...] = ()  # of a flip-flop: clear, preset, falling edge


@dataclasses.dataclass
class Library:
    """A library and the plain files that tools read."""

    files: list[pathlib.Path]
    name: str
    time_unit_ps: float
    cells: dict[str, Cell]

    def nand2_area(self) -> float:
        """Area of the smallest two-input NAND: the gate equivalent."""
        areas = [cell.area for cell in self.cells.values() if is_nand2(cell)]
        if not areas:
            raise LibertyError(
                f"{self.name}: no two-input NAND to count gate equivalents with; "
                "name a library that has one"
            )
        return min(areas)

    def larger_flops(self) -> list[str]:
        """Flip-flops that differ from a smaller one in drive strength only."""
        smallest: dict[tuple[int, tuple[bool, ...]], Cell] = {}
        for cell in self.cells.values():
            if cell.is_flop:
                kind = cell.inputs, cell.kind
                known = smallest.get(kind)
                smallest[kind] = min(known or cell, cell, key=lambda c: (c.area, c.name))
        kept = {cell.name for cell in smallest.values()}
        return [cell.name for cell in self.cells.values() if cell.is_flop and cell.name not in kept]

    def buffer(self) -> Cell:
        """The smallest non-inverting buffer."""
        plain = [
            cell
            for cell in self.cells.values()
            if cell.inputs == 1
            and re.fullmatch(r"\(?\w+\)?", cell.function)
            and not (cell.is_flop or cell.is_latch or cell.is_gate)
        ]
        if not plain:
            raise LibertyError(f"{self.name}: no buffer; name a library that has one")
        return min(plain, key=lambda cell: (cell.area, cell.name))

    def smallest(self, what: Kind) -> Cell | None:
        """The smallest cell of a kind, or None."""
        cells = [cell for cell in self.cells.values() if getattr(cell, what)]
        return min(cells, key=lambda cell: (cell.area, cell.name), default=None)


def is_nand2(cell: Cell) -> bool:
    """Whether the cell's function is the NAND of two pins, in either of the usual spellings."""
    text = re.sub(r"[\s()]", "", cell.function)
    return cell.inputs == 2 and bool(
        re.fullmatch(r"!(\w+)[*&](\w+)", text)
        and cell.function.strip().startswith(("!(", "(!("))
        or re.fullmatch(r"!(\w+)[+|]!(\w+)", text)
        or re.fullmatch(r"(\w+)'[+|](\w+)'", text)
    )


def plain_files(source: pathlib.Path | str, build: pathlib.Path) -> list[pathlib.Path]:
    """The library's files, unpacked into the build folder where needed."""
    source = pathlib.Path(source)
    found = sorted(source.iterdir()) if source.is_dir() else [source]
    found = [path for path in found if re.search(r"\.lib(\.gz)?$", path.name)]
    if not found or not all(path.exists() for path in found):
        raise LibertyError(
            f"LIBERTY = {source}: no .lib or .lib.gz there; name a Liberty file or a folder of them"
        )
    plain = []
    for path in found:
        if path.suffix == ".gz":
            target = build / path.name[:-3]
            if not target.exists():
                target.write_bytes(gzip.decompress(path.read_bytes()))
            path = target
        plain.append(path)
    return plain


def cell_texts(text: str) -> Iterator[tuple[str, str]]:
    """(name, body) of each cell group."""
    for match in re.finditer(r"^\s*cell\s*\(\s*\"?([\w.]+)\"?\s*\)\s*\{", text, re.M):
        depth, at = 1, match.end()
        for brace in re.finditer(r"[{}]", text[at:]):
            depth += 1 if brace.group() == "{" else -1
            if depth == 0:
                yield match.group(1), text[at : at + brace.start()]
                break


def attribute(name: str, text: str) -> str:
    """A simple attribute's value, or an empty string."""
    found = re.search(rf"\b{name}\s*:\s*\"?([^;\"\n]*?)\"?\s*[;\n]", text)
    return found.group(1).strip() if found else ""


def pins_of(body: str) -> Iterator[tuple[str, str]]:
    """(name, text) of each pin group, nested groups included."""
    for match in re.finditer(r"\bpin\s*\(\s*\"?(\w+)\"?\s*\)\s*\{", body):
        depth, at = 1, match.end()
        for brace in re.finditer(r"[{}]", body[at:]):
            depth += 1 if brace.group() == "{" else -1
            if depth == 0:
                yield match.group(1), body[at : at + brace.start()]
                break


def read_cell(name: str, body: str) -> Cell:
    """A cell from its group's text."""
    cell = Cell(name, float(attribute("area", body) or "nan"))
    cell.is_gate = bool(attribute("clock_gating_integrated_cell", body))
    cell.is_flop = bool(re.search(r"\bff\s*\(", body)) and not cell.is_gate
    cell.kind = tuple(bool(attribute(name, body)) for name in ("clear", "preset"))
    cell.kind += ("!" in attribute("clocked_on", body),)
    latch = re.search(r"\blatch\s*\(\s*\"?(\w+)\"?[^{]*\{([^}]*)\}", body)
    outputs = []
    for pin, text in pins_of(body):
        if attribute("direction", text) == "input":
            cell.inputs += 1
        else:
            outputs.append((pin, attribute("function", text)))
        for role in ("clock", "enable", "test", "out"):
            if attribute(f"clock_gate_{role}_pin", text) == "true":
                cell.pins[role] = pin
    if latch and not cell.is_gate and len(outputs) == 1:
        enable, data = attribute("enable", latch.group(2)), attribute("data_in", latch.group(2))
        simple = re.fullmatch(r"\w+", enable) and re.fullmatch(r"\w+", data)
        # A latch that is open while its enable is high and gives its state unchanged.
        if simple and outputs[0][1] == latch.group(1) and not attribute("clear", latch.group(2)):
            cell.is_latch = True
            cell.pins = {"enable": enable, "data": data, "out": outputs[0][0]}
    if len(outputs) == 1:
        cell.function = outputs[0][1]
    return cell


def read(source: pathlib.Path | str, build: pathlib.Path) -> Library:
    """Reads and checks a library."""
    build.mkdir(parents=True, exist_ok=True)
    files = plain_files(source, build)
    cells: dict[str, Cell] = {}
    units: set[str] = set()
    name = pathlib.Path(source).name
    for path in files:
        text = path.read_text(errors="replace")
        units.add(attribute("time_unit", text[: text.find("cell (")]))
        for cell_name, body in cell_texts(text):
            cells[cell_name] = read_cell(cell_name, body)
    library = Library(files, name, 0.0, cells)
    if len(units) != 1 or not units <= set(TIME_UNITS_PS):
        raise LibertyError(
            f"{name}: time_unit = {', '.join(sorted(units)) or 'none'}: must be one of "
            f"{', '.join(TIME_UNITS_PS)} in all files; correct the library"
        )
    library.time_unit_ps = TIME_UNITS_PS[units.pop()]
    if library.smallest("is_flop") is None:
        raise LibertyError(
            f"{name}: no flip-flop among {len(cells)} cells; the area would be too small: "
            "add the file with the sequential cells"
        )
    if not all(cell.area > 0 for cell in cells.values() if cell.is_flop):
        raise LibertyError(f"{name}: a flip-flop without an area; correct the library")
    library.nand2_area()
    return library
