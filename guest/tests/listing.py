"""Reads a function of a library as a list of instructions and markers."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

MAGIC = 0x4D614C00
OPS = {
    0x01: ("LOOKUP", 1),
    0x02: ("UPDATE", 3),
    0x03: ("SAMPLE", 1),
    0x04: ("SAMPLE_END", 0),
    0x05: ("POP", 1),
    0x06: ("POP_END", 2),
    0x07: ("PUSH", 2),
    0x08: ("PREFETCH", 3),
    0x09: ("INVALIDATE", 1),
    0x0A: ("FLUSH", 0),
    0x10: ("ROI_BEGIN", 0),
    0x11: ("ROI_END", 0),
    0x12: ("TRASH", 0),
    0x30: ("CALL_END", 1),
}
KINDS = ("MALLOC", "FREE", "CALLOC", "REALLOC", "NEW", "DELETE", "SIZED_DELETE", "MEMALIGN")
for kind, name in enumerate(KINDS):
    OPS[0x20 + kind] = ("CALL_BEGIN " + name, 1)

CARRIER = re.compile(r"nop[lw]\s+0x(4d614c[0-9a-f]{2})\((%\w+)\)")
STORE = re.compile(r"mov\s+(%\w+),-0x88\(%rsp\)")
# A jump or call, its target's address, and the function that the target lies in.
TARGET = re.compile(r"^(j\w+|call)\s+([0-9a-f]+) <([^>]*)>")


@dataclass
class Instruction:
    address: int
    text: str
    target: int | None = None


@dataclass
class Marker:
    address: int
    name: str
    registers: list[str] = field(default_factory=list)


Item = Instruction | Marker


def disassemble(library: Path, symbol: str) -> list[Instruction]:
    """All instructions of a symbol, in address order."""
    out = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", f"--disassemble={symbol}", library],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    code = []
    for line in out.splitlines():
        match = re.match(r"\s*([0-9a-f]+):\s+(.*)", line)
        if not match:
            continue
        text = re.sub(r"\s+", " ", match[2].split("#")[0]).strip()
        target = TARGET.match(text)
        code.append(Instruction(int(match[1], 16), text, int(target[2], 16) if target else None))
    if not code:
        raise SystemExit(f"{library}: no symbol {symbol}")
    return code


def fold_markers(code: list[Instruction]) -> list[Item]:
    """Replaces each carrier and its operand stores with one Marker.

    Raises ValueError when a store is missing, does not follow at once, or stands alone.
    """
    folded: list[Item] = []
    i = 0
    while i < len(code):
        carrier = CARRIER.match(code[i].text)
        if not carrier:
            if STORE.match(code[i].text):
                raise ValueError(f"{code[i].address:#x}: an operand store without a carrier")
            folded.append(code[i])
            i += 1
            continue
        op = int(carrier[1], 16) - MAGIC
        if op not in OPS:
            raise ValueError(f"{code[i].address:#x}: unknown operation {op:#x}")
        name, operands = OPS[op]
        marker = Marker(code[i].address, name)
        for k in range(operands):
            store = STORE.match(code[i + 1 + k].text)
            if not store:
                raise ValueError(f"{code[i].address:#x}: {name} lacks operand store {k}")
            if k == 0 and store[1] != carrier[2]:
                raise ValueError(f"{code[i].address:#x}: {name} names another register")
            marker.registers.append(store[1])
        folded.append(marker)
        i += 1 + operands
    return folded


def straight_path(code: Sequence[Item]) -> list[Item]:
    """From the first instruction to the first `ret`, with no conditional jump taken."""
    by_address = {item.address: index for index, item in enumerate(code)}
    path: list[Item] = []
    i = 0
    while True:
        item = code[i]
        if isinstance(item, Instruction) and item.text.startswith("jmp"):
            assert item.target is not None, f"{item.address:#x}: an indirect jump"
            i = by_address[item.target]
            continue
        path.append(item)
        if isinstance(item, Instruction) and item.text.startswith("ret"):
            return path
        i += 1


def instructions(path: Sequence[Item]) -> list[Instruction]:
    """A path without its markers."""
    return [item for item in path if isinstance(item, Instruction)]


def between(path: Sequence[Item], opening: str, closing: str) -> list[Instruction]:
    """The instructions between two consecutive markers of a path."""
    names = [item.name if isinstance(item, Marker) else None for item in path]
    start = names.index(opening)
    end = names.index(closing, start)
    region = instructions(path[start + 1 : end])
    if len(region) != end - start - 1:
        raise ValueError(f"a marker between {opening} and {closing}")
    return region
