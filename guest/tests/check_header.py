"""What compilers make of include/mallacc.h, against the table of docs/markers.md.

usage: check_header.py BUILD_DIR
"""

import re
import subprocess
import sys
import unittest
from collections.abc import Sequence
from pathlib import Path

from listing import Instruction, Marker, disassemble, fold_markers

BUILD = Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build")
GUEST = Path(__file__).resolve().parent.parent
DOCS = (GUEST.parent / "docs" / "markers.md").read_text()

# How a C program writes each marker; a, b, c are its operands in order, s is the anchor.
USES = {
    "LOOKUP": "(a)",
    "UPDATE": "(a, b, c)",
    "SAMPLE": "(a, s)",
    "SAMPLE_END": "(*s)",
    "POP": "(a, s)",
    "POP_END": "(a, b, s)",
    "PUSH": "(a, b)",
    "PREFETCH": "(a, b, c)",
    "INVALIDATE": "(a)",
    "FLUSH": "()",
    "ROI_BEGIN": "()",
    "ROI_END": "()",
    "TRASH": "()",
    "CALL_END": "(a)",
}
COMPILERS = (["gcc", "-std=c11", "-xc"], ["g++", "-std=c++17", "-xc++"])
FLAGS = ["-O2", "-fcf-protection=none", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def first_group(pattern: str, text: str, flags: int = 0) -> str:
    """What the first group of a pattern matches, which must be there."""
    match = re.search(pattern, text, flags)
    assert match is not None, pattern
    return match[1]


def documented_operations() -> dict[str, tuple[int, int]]:
    """name -> (code, number of operands), from the table under "Operations"."""
    rows = re.findall(r"^\| (0x[0-9a-f]{2})(?:\+kind)? \| `(\w+)` \| ([^|]+) \|", DOCS, re.M)
    return {
        name: (int(code, 16), 0 if words.strip() == "–" else len(words.split(",")))
        for code, name, words in rows
    }


def documented_kinds() -> dict[str, int]:
    text = first_group(r"^Kinds: (.*?)\.$", DOCS, re.M | re.S)
    rows = re.findall(r"(\d) ([a-z ]+?)(?: and its\s+relatives)? \(", text)
    return {name.upper().replace(" ", "_"): int(kind) for kind, name in rows}


def compile_markers(compiler: list[str], name: str, extra: Sequence[str] = ()) -> Path:
    """One C function per marker and kind; returns the object file."""
    lines = ['#include "mallacc.h"']
    head = "(unsigned long a, unsigned long b, unsigned long c, unsigned long* s)"
    end = "(void)a; (void)b; (void)c; (void)s; }"
    extern = 'extern "C" ' if compiler[0] == "g++" else ""
    declare = "" if extern else "void use_{0}{1};\n"
    for marker, arguments in USES.items():
        lines.append(declare.format(marker, head))
        lines.append(f"{extern}void use_{marker}{head} {{ MALLACC_{marker}{arguments}; {end}")
    for kind in documented_kinds():
        lines.append(declare.format(kind, head))
        lines.append(
            f"{extern}void use_{kind}{head} {{ MALLACC_CALL_BEGIN(MALLACC_KIND_{kind}, a); {end}"
        )
    target = BUILD / "tests" / f"{name}.o"
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [*compiler, *FLAGS, *extra, f"-I{GUEST}/include", "-c", "-o", target, "-"],
        input="\n".join(lines),
        text=True,
        check=True,
    )
    return target


class Header(unittest.TestCase):
    def test_the_table_is_read_completely(self) -> None:
        operations = documented_operations()
        self.assertEqual(set(operations), {*USES, "CALL_BEGIN"})
        self.assertEqual(len(documented_kinds()), 8)

    def test_each_marker_has_the_documented_code_and_operands_in_c_and_cxx(self) -> None:
        operations = documented_operations()
        for compiler in COMPILERS:
            library = compile_markers(compiler, "header_" + compiler[0])
            expected = {m: operations[m] for m in USES}
            base, count = operations["CALL_BEGIN"]
            expected |= {k: (base + v, count) for k, v in documented_kinds().items()}
            for name, (code, operands) in expected.items():
                with self.subTest(compiler=compiler[0], marker=name):
                    listing = disassemble(library, "use_" + name)
                    carrier = next(i for i in listing if "4d614c" in i.text)
                    self.assertIn(f"0x4d614c{code:02x}(", carrier.text)
                    markers = [m for m in fold_markers(listing) if isinstance(m, Marker)]
                    self.assertEqual(len(markers), 1)
                    self.assertEqual(len(markers[0].registers), operands)
                    # Operands arrive in rdi, rsi, rdx (System V ABI): their order is visible.
                    self.assertEqual(markers[0].registers, ["%rdi", "%rsi", "%rdx"][:operands])

    def test_magic_and_slot_are_the_documented_ones(self) -> None:
        header = (GUEST / "include" / "mallacc.h").read_text()
        magic = first_group(r"nopl\s+\((0x[0-9a-f]+) \+ op\)", DOCS)
        slot = first_group(r"movq  %reg, (-\d+)\(%rsp\)", DOCS)
        self.assertIn(f"#define MALLACC_MAGIC {magic}\n", header)
        self.assertIn(f"#define MALLACC_SLOT  {slot}\n", header)

    def test_without_markers_no_instruction_is_left(self) -> None:
        for compiler in COMPILERS:
            library = compile_markers(compiler, "bare_" + compiler[0], ["-DMALLACC_NO_MARKERS"])
            for name in USES:
                with self.subTest(compiler=compiler[0], marker=name):
                    texts = [
                        i.text
                        for i in disassemble(library, "use_" + name)
                        if isinstance(i, Instruction) and "nop" not in i.text
                    ]
                    self.assertEqual(texts, ["ret"])

    def test_an_operand_of_four_bytes_is_refused(self) -> None:
        source = '#include "mallacc.h"\nvoid f(unsigned a) { MALLACC_LOOKUP(a); }\n'
        result = subprocess.run(
            ["gcc", "-xc", f"-I{GUEST}/include", "-fsyntax-only", "-"],
            input=source,
            text=True,
            capture_output=True,
        )
        self.assertNotEqual(result.returncode, 0)

    def test_the_example_in_the_header_compiles(self) -> None:
        header = (GUEST / "include" / "mallacc.h").read_text()
        example = header[header.index("How to annotate") : header.index("* Rules")]
        lines = re.findall(r"^ \*     (.*)$", example, re.M)
        source = "\n".join(
            [
                '#include "mallacc.h"',
                "#include <stddef.h>",
                "struct list { void* head; };",
                "struct cache { struct list lists[88]; };",
                "extern struct cache* my_cache;",
                "extern unsigned char class_of[], *refill(struct cache*, size_t);",
                "extern size_t bytes_of[];",
                "void* allocate(size_t);",
                *lines,
            ]
        )
        subprocess.run(
            [
                "gcc",
                "-std=c11",
                "-xc",
                *FLAGS,
                f"-I{GUEST}/include",
                "-c",
                "-o",
                BUILD / "tests" / "example.o",
                "-",
            ],
            input=source,
            text=True,
            check=True,
        )


if __name__ == "__main__":
    unittest.main(verbosity=1)
