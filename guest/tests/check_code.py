"""The compiled fast paths: their size, their markers, and what lies between the markers.

usage: check_code.py BUILD_DIR
"""

import re
import sys
import unittest
from pathlib import Path
from typing import TypeGuard

from listing import (
    Instruction,
    Item,
    Marker,
    between,
    disassemble,
    fold_markers,
    instructions,
    straight_path,
)

BUILD = Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build")
MARKED = BUILD / "libmallacc_guest.so"
PLAIN = BUILD / "libmallacc_guest_plain.so"

# Entry point -> kind of call. Mangled names after the Itanium C++ ABI.
ENTRY_POINTS = {
    "malloc": "MALLOC",
    "free": "FREE",
    "cfree": "FREE",
    "calloc": "CALLOC",
    "realloc": "REALLOC",
    "reallocarray": "REALLOC",
    "memalign": "MEMALIGN",
    "posix_memalign": "MEMALIGN",
    "aligned_alloc": "MEMALIGN",
    "valloc": "MEMALIGN",
    "pvalloc": "MEMALIGN",
}
for array in "wa":
    for tail in ("", "RKSt9nothrow_t", "St11align_val_t", "St11align_val_tRKSt9nothrow_t"):
        ENTRY_POINTS[f"_Zn{array}m{tail}"] = "NEW"
        ENTRY_POINTS[f"_Zd{'l' if array == 'w' else 'a'}Pv{tail}"] = "DELETE"
    for tail in ("", "St11align_val_t"):
        ENTRY_POINTS[f"_Zd{'l' if array == 'w' else 'a'}Pvm{tail}"] = "SIZED_DELETE"

# Fast paths and the number of instructions that their source states (src/fast_path.h).
STATED = {"malloc": "malloc()", "free": "free()"}
PAPER_FAST_PATH = 40  # "about 40 static x86 instructions", Mallacc paper, section 3.2
TOLERANCE = 0.25
FAST_PATHS = ("malloc", "_Znwm", "free", "_ZdlPv", "_ZdlPvm")

LOAD = re.compile(r"^(mov|movz\w*|movs\w*) (-?0x[0-9a-f]+)?\(%\w+.*\),%")


def is_load(item: Item) -> TypeGuard[Instruction]:
    return isinstance(item, Instruction) and LOAD.match(item.text) is not None


def is_store(item: Item) -> TypeGuard[Instruction]:
    if not isinstance(item, Instruction) or re.match(r"^(cmp|test|nop|lea|j|call)", item.text):
        return False
    return item.text.endswith(")") and "," in item.text


def is_branch(item: Item) -> TypeGuard[Instruction]:
    return isinstance(item, Instruction) and re.match(r"^j", item.text) is not None


def is_padding(item: Item) -> TypeGuard[Instruction]:
    padding = r"^(data16 |cs |nop)"
    return isinstance(item, Instruction) and re.match(padding, item.text) is not None


def fast_path(library: Path, symbol: str) -> list[Item]:
    path = straight_path(fold_markers(disassemble(library, symbol)))
    return [item for item in path if not is_padding(item)]


def texts(items: list[Instruction]) -> list[str]:
    """The instructions without what depends on where the linker put things."""
    cleaned = []
    for item in items:
        text = re.sub(r"-?0x[0-9a-f]+\(%rip\)", "SYMBOL(%rip)", item.text)
        cleaned.append(re.sub(r" [0-9a-f]+ <.*", " TARGET", text))
    return cleaned


class FastPaths(unittest.TestCase):
    def instructions(self, symbol: str) -> list[Instruction]:
        return instructions(fast_path(MARKED, symbol))

    def test_malloc_and_free_are_as_short_as_their_source_says(self) -> None:
        source = Path(__file__).parent.parent / "src" / "fast_path.h"
        words = " ".join(source.read_text().replace("//", " ").split())
        stated = re.search(r"malloc\(\) executes (\d+) instructions.*?free\(\) (\d+)", words)
        assert stated is not None
        self.assertEqual(len(self.instructions("malloc")), int(stated[1]))
        self.assertEqual(len(self.instructions("free")), int(stated[2]))

    def test_they_are_about_as_long_as_the_paper_says(self) -> None:
        for symbol in FAST_PATHS:
            with self.subTest(symbol):
                count = len(self.instructions(symbol))
                self.assertGreaterEqual(count, PAPER_FAST_PATH * (1 - TOLERANCE))
                self.assertLessEqual(count, PAPER_FAST_PATH * (1 + TOLERANCE))

    def test_they_save_no_registers_and_use_no_stack(self) -> None:
        for symbol in FAST_PATHS:
            with self.subTest(symbol):
                for text in texts(self.instructions(symbol)):
                    self.assertNotRegex(text, r"^(push|pop|call)|%rsp|%rbp")

    def test_markers_do_not_change_the_code(self) -> None:
        for symbol in FAST_PATHS:
            with self.subTest(symbol):
                plain = fold_markers(disassemble(PLAIN, symbol))
                self.assertFalse([i for i in plain if isinstance(i, Marker)])
                expected = texts(instructions(straight_path(plain)))
                self.assertEqual(texts(self.instructions(symbol)), expected)


class Markers(unittest.TestCase):
    def test_every_carrier_is_followed_by_its_operand_stores_in_its_page(self) -> None:
        # fold_markers() raises otherwise; the whole library, slow paths included.
        import subprocess

        out = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", str(MARKED)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        code = []
        for line in out.splitlines():
            match = re.match(r"\s*([0-9a-f]+):\s+(.*)", line)
            if match:
                text = re.sub(r"\s+", " ", match[2].split("#")[0]).strip()
                code.append(Instruction(int(match[1], 16), text))
        markers = [m for m in fold_markers(code) if isinstance(m, Marker)]
        for marker in markers:
            # A carrier of 8 bytes at most, stores of 8: within one OS page.
            last = marker.address + 8 + 8 * len(marker.registers) - 1
            if marker.registers:
                self.assertEqual(marker.address >> 12, last >> 12, f"{marker} straddles a page")
        found = {m.name for m in markers}
        for name in (
            "LOOKUP",
            "UPDATE",
            "SAMPLE",
            "SAMPLE_END",
            "POP",
            "POP_END",
            "PUSH",
            "PREFETCH",
            "INVALIDATE",
            "FLUSH",
            "CALL_END",
        ):
            self.assertIn(name, found)

    def test_every_entry_point_begins_with_its_call(self) -> None:
        for symbol, kind in ENTRY_POINTS.items():
            with self.subTest(symbol):
                for item in fold_markers(disassemble(MARKED, symbol)):
                    if isinstance(item, Marker):
                        self.assertEqual(item.name, "CALL_BEGIN " + kind)
                        break
                    self.assertFalse(is_branch(item), "a branch before the marker")

    def test_every_fast_path_ends_its_call_at_its_ret(self) -> None:
        for symbol in FAST_PATHS:
            with self.subTest(symbol):
                path = fast_path(MARKED, symbol)
                end, ret = path[-2:]
                assert isinstance(end, Marker) and isinstance(ret, Instruction)
                self.assertEqual(end.name, "CALL_END")
                self.assertEqual(ret.text, "ret")

    def test_marker_order_is_that_of_the_steps(self) -> None:
        allocation = ["LOOKUP", "UPDATE", "SAMPLE", "SAMPLE_END", "POP", "POP_END", "PREFETCH"]
        expected = {
            "malloc": ["CALL_BEGIN MALLOC", *allocation, "CALL_END"],
            "_Znwm": ["CALL_BEGIN NEW", *allocation, "CALL_END"],
            "free": ["CALL_BEGIN FREE", "PUSH", "CALL_END"],
            "_ZdlPv": ["CALL_BEGIN DELETE", "PUSH", "CALL_END"],
            "_ZdlPvm": ["CALL_BEGIN SIZED_DELETE", "LOOKUP", "UPDATE", "PUSH", "CALL_END"],
        }
        for symbol, names in expected.items():
            with self.subTest(symbol):
                path = fast_path(MARKED, symbol)
                self.assertEqual([m.name for m in path if isinstance(m, Marker)], names)


class Regions(unittest.TestCase):
    """What hardware makes unnecessary lies between the markers, and nothing else does."""

    def test_lookup_to_update_is_index_and_two_loads(self) -> None:
        for symbol in ("malloc", "_Znwm", "_ZdlPvm"):
            with self.subTest(symbol):
                region = between(fast_path(MARKED, symbol), "LOOKUP", "UPDATE")
                kinds = sorted(i.text.split()[0] for i in region)
                # Two forms of the index (add, shift), the choice, the tables' address, two loads.
                self.assertEqual(
                    kinds,
                    sorted(["lea", "shr", "lea", "shr", "cmp", "cmovae", "lea", "movzbl", "mov"]),
                )
                self.assertEqual(sum(map(is_load, region)), 2)
                self.assertFalse(any(map(is_store, region)) or any(map(is_branch, region)))

    def test_sample_to_sample_end_is_load_compare_branch_subtract_store(self) -> None:
        for symbol in ("malloc", "_Znwm"):
            with self.subTest(symbol):
                region = between(fast_path(MARKED, symbol), "SAMPLE", "SAMPLE_END")
                self.assertEqual(
                    [i.text.split()[0] for i in region], ["mov", "cmp", "jb", "sub", "mov"]
                )
                self.assertTrue(is_load(region[0]) and is_store(region[-1]))

    def test_pop_to_pop_end_is_two_loads_and_the_empty_check(self) -> None:
        for symbol in ("malloc", "_Znwm"):
            with self.subTest(symbol):
                path = fast_path(MARKED, symbol)
                region = between(path, "POP", "POP_END")
                self.assertEqual([i.text.split()[0] for i in region], ["mov", "test", "je", "mov"])
                self.assertTrue(is_load(region[0]) and is_load(region[3]))
                # The second load goes through the first's result, and POP_END names both.
                end = next(m for m in path if isinstance(m, Marker) and m.name == "POP_END")
                head, following = (i.text.split(",")[-1] for i in (region[0], region[3]))
                self.assertIn(f"({head})", region[3].text)
                self.assertEqual(end.registers, [head, following])

    def test_the_list_head_is_stored_after_pop_end_and_before_prefetch(self) -> None:
        for symbol in ("malloc", "_Znwm"):
            with self.subTest(symbol):
                path = fast_path(MARKED, symbol)
                following = next(
                    m for m in path if isinstance(m, Marker) and m.name == "POP_END"
                ).registers[1]
                update = between(path, "POP_END", "PREFETCH")
                self.assertTrue(
                    any(is_store(i) and i.text.startswith(f"mov {following},") for i in update)
                )

    def test_an_empty_list_invalidates_at_once(self) -> None:
        for symbol in ("malloc", "_Znwm"):
            with self.subTest(symbol):
                region = between(fast_path(MARKED, symbol), "POP", "POP_END")
                target = next(i for i in region if is_branch(i)).target
                away = [
                    i
                    for part in (symbol, symbol + ".cold")
                    for i in fold_markers(disassemble(MARKED, part))
                ]
                first = next(i for i in away if i.address == target)
                self.assertEqual(getattr(first, "name", first), "INVALIDATE")

    def test_a_taken_sample_closes_the_region_before_it_is_taken(self) -> None:
        for symbol in ("malloc", "_Znwm"):
            with self.subTest(symbol):
                region = between(fast_path(MARKED, symbol), "SAMPLE", "SAMPLE_END")
                target = next(i for i in region if is_branch(i)).target
                away = [
                    i
                    for part in (symbol, symbol + ".cold")
                    for i in fold_markers(disassemble(MARKED, part))
                ]
                first = next(i for i in away if i.address == target)
                self.assertEqual(getattr(first, "name", first), "SAMPLE_END")

    def test_push_comes_before_the_software_push(self) -> None:
        for symbol in ("free", "_ZdlPv", "_ZdlPvm"):
            with self.subTest(symbol):
                path = fast_path(MARKED, symbol)
                index, push = next(
                    (i, m) for i, m in enumerate(path) if isinstance(m, Marker) and m.name == "PUSH"
                )
                pointer = push.registers[1]
                link = [
                    i
                    for i, item in enumerate(path)
                    if is_store(item)
                    and (f",({pointer})" in item.text or f"mov {pointer}," in item.text)
                ]
                self.assertEqual(len(link), 2)
                self.assertTrue(all(i > index for i in link))


if __name__ == "__main__":
    unittest.main(verbosity=1)
