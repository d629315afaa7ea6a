#!/usr/bin/env python3
"""Runs every command of the documentation from an empty folder, and compares what it prints with
what the documentation shows.

    tour.py [--mallacc PROGRAM] [--outputs | --statuses] [--long] [--update] [FILE ...]

A command is a line of a code block that begins with `mallacc`, after `$ ` if its output follows.
In that output, "…" stands for anything. Words must be the same; a number may differ by 5 % or, if
that is more, by its interval and that of the number shown (±). Of other commands it is checked that
they exist.

--outputs   only commands whose output is shown
--statuses  compare no output: other versions of the programs give other figures
--long      also whole studies, which take hours
--update    write what was printed into the documentation, except into lines that have an "…"
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ANYTHING = "…"
# How far a number may be from the one shown, whatever its interval: other versions of libraries are
# other executions, and an interval is of one.
TOLERANCE = 0.05
# Where everything runs, in a new folder. Its path is in the programs' environment, which they copy:
# a path of another length would make them do something else.
PLACE = "/tmp"
TIMEOUT_SECONDS = 1800

# What is run in place of what is written: pattern, replacement, why.
INSTEAD = [
    (r"^mallacc report 7\.\.12", "mallacc report 1..2", "the tour has fewer runs"),
    (r"^mallacc report 7", "mallacc report 1", "the tour has fewer runs"),
    (r"^(mallacc paper fig\w+)$", r"\1 --quick", "the whole figure takes many minutes"),
    (r"; …'", "; imul rcx, rax'", "something stands for whatever comes next"),
]
# What is run with --long only.
LONG = {
    "mallacc paper": "the whole study takes most of an hour",
    "mallacc paper --quick": "it takes several minutes",
    "mallacc paper --resume --format markdown -o figures.md": "it follows a whole study",
    "mallacc sma-study": "it needs the recorded traces (make traces) and minutes",
    "mallacc sma-study fig8 fig9 --format csv -o study.csv": "it needs the recorded traces",
    "mallacc validate host": "it measures this computer, which must be idle",
}

PROGRAM = """#include <stdio.h>
#include <stdlib.h>
int main(void) {
  long sum = 0;
  for (int i = 0; i < 20000; i++) {
    int *p = malloc(16 + i % 200);
    *p = i;
    sum += *p;
    free(p);
  }
  printf("%ld\\n", sum);
  return 0;
}
"""
BLOCKS = {"4801d8480fafc3": 400, "4889c8": 25, "4801d8": 100}


@dataclasses.dataclass
class Command:
    """A command of the documentation."""

    file: pathlib.Path
    line: int
    text: str
    # The lines that it prints, as far as they are shown, and the line they begin at.
    output: list[str]
    output_line: int

    @property
    def place(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}"


def complete(text: str) -> bool:
    """Whether quotes are closed and no line follows."""
    if text.endswith("\\"):
        return False
    try:
        shlex.split(text)
    except ValueError:
        return False
    return True


def without_remark(text: str) -> str:
    """A command of one line without the remark beside it."""
    quoted = r"'[^']*'|\"[^\"]*\""
    return re.sub(rf"^((?:{quoted}|[^'\"])*?)(?:\s{{2,}}|\s+# ).*$", r"\1", text).rstrip()


def commands(file: pathlib.Path) -> list[Command]:
    """The commands of a document, in order."""
    found: list[Command] = []
    inside, shown, open_line = False, False, ""
    for number, raw in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if raw.startswith("```"):
            inside, shown, open_line = not inside, False, ""
        elif inside and open_line:
            found[-1].text = open_line = f"{open_line}\n{raw}"
            found[-1].output_line = number + 1
            open_line = "" if complete(open_line) else open_line
        elif inside and (match := re.match(r"(\$ )?((?:mallacc|make|cargo) .*)", raw)):
            shown = match[1] is not None
            text = match[2] if shown else without_remark(match[2])
            open_line = "" if complete(text) else text
            found.append(Command(file, number, text, [], number + 1))
        elif inside and shown:
            found[-1].output.append(raw)
    return found


TOKEN = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?|±|[^\W\d]+|[^\w\s±]", re.UNICODE)


@dataclasses.dataclass
class Token:
    """A word, a sign or a number, and the line it stands on."""

    text: str
    line: int

    @property
    def number(self) -> float | None:
        return float(self.text.replace(",", "")) if self.text[-1].isdigit() else None

    @property
    def unit(self) -> float:
        """One in the last digit."""
        return 10.0 ** -len(self.text.partition(".")[2])

    @property
    def shape(self) -> str:
        return "#" if self.number is not None else self.text


def tokens(lines: list[str]) -> list[Token]:
    return [Token(m[0], at) for at, line in enumerate(lines) for m in TOKEN.finditer(line)]


def half_width(of: list[Token], at: int) -> float:
    """The interval behind a number; 0 without one."""
    after = of[at + 1 : at + 3]
    if len(after) == 2 and after[0].text == "±" and after[1].number is not None:
        return after[1].number + after[1].unit
    return 0.0


def intervals(of: list[Token]) -> dict[str, float]:
    """The largest interval that each number has anywhere: a sentence repeats figures without it."""
    found: dict[str, float] = {}
    for at, token in enumerate(of):
        if half := half_width(of, at):
            number = token.text.lstrip("+-")
            found[number] = max(half, found.get(number, 0.0))
    return found


def differs(shown: list[Token], printed: list[Token], at: int, elsewhere: dict[str, float]) -> bool:
    """Whether a number is too far from the one that is shown; `elsewhere` has the intervals."""
    one, other = shown[at], printed[at]
    if one.number is None or other.number is None:
        return False
    # An interval has none of its own; the speed of the host is nobody's promise.
    following = [token.text for token in shown[at + 1 : at + 2]]
    if (at > 0 and shown[at - 1].text == "±") or following in (["s"], ["million"]):
        return False
    interval = half_width(shown, at) + half_width(printed, at)
    interval = interval or sum(elsewhere.get(token.text, 0.0) for token in (one, other))
    size = max(abs(one.number), abs(other.number))
    return abs(one.number - other.number) > max(interval, TOLERANCE * size) + one.unit


@dataclasses.dataclass
class Stretch:
    """What is shown between two places where anything may stand."""

    # Its first line in the output that is shown.
    first: int
    lines: list[str]
    # It begins and ends with its lines.
    whole: bool = True


def stretches(lines: list[str]) -> list[Stretch]:
    """The stretches of an output, in order."""
    parts = [Stretch(0, [])]
    for at, line in enumerate(lines):
        before, anything, after = line.partition(ANYTHING)
        if not anything:
            parts[-1].lines.append(line)
            continue
        if before.strip():
            parts[-1].lines.append(before)
            parts[-1].whole = False
        inside = bool(after.strip())
        parts.append(Stretch(at, [after], False) if inside else Stretch(at + 1, []))
    return [part for part in parts if any(line.strip() for line in part.lines)]


@dataclasses.dataclass
class Found:
    """Where a stretch is in what was printed."""

    first: int
    last: int
    wrong: list[str]


def find(part: list[str], printed: list[str], start: int) -> Found | None:
    """The first place from a line on where the words of a stretch are printed."""
    everything = tokens(printed)
    elsewhere = intervals(everything)
    wanted, given = tokens(part), [token for token in everything if token.line >= start]
    shape = [token.shape for token in wanted]
    shapes = [token.shape for token in given]
    for at in range(len(given) - len(wanted) + 1):
        if shapes[at : at + len(wanted)] == shape:
            there = given[at : at + len(wanted)]
            wrong = [
                f"{wanted[i].text} is shown in {part[wanted[i].line].strip()!r}, "
                f"{there[i].text} was printed"
                for i in range(len(wanted))
                if differs(wanted, there, i, elsewhere)
            ]
            return Found(there[0].line, there[-1].line, wrong)
    return None


def compare(command: Command, printed: list[str]) -> tuple[list[str], list[str]]:
    """What is wrong with the output that is shown, and how it would be shown today."""
    wrong: list[str] = []
    places: list[tuple[Stretch, Found]] = []
    start = 0
    for part in stretches(command.output):
        place = find(part.lines, printed, start)
        if place is None:
            wrong.append(f"this was not printed: {' '.join(part.lines[0].split())} …")
            continue
        start = place.last + 1
        wrong.extend(place.wrong)
        places.append((part, place))
    today = list(command.output)
    for part, place in reversed(places):
        if part.whole:
            end = part.first + len(part.lines)
            today[part.first : end] = printed[place.first : place.last + 1]
    return wrong, today


def furnish(folder: pathlib.Path, mallacc: pathlib.Path) -> None:
    """What the documentation takes for granted: a program, a file to compile, lists of blocks."""
    (folder / "bin").mkdir()
    (folder / "bin/mallacc").symlink_to(mallacc)
    (folder / "folder").mkdir()
    (folder / "folder/text").write_text("some text\n" * 1000)
    (folder / "prog.c").write_text(PROGRAM)
    (folder / "file.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-O1", "-fno-builtin", "prog.c", "-o", "prog"], cwd=folder, check=True)
    (folder / "list").write_text("".join(f"{block}\n" for block in BLOCKS))
    rows = "".join(f"{block},{cycles}\n" for block, cycles in BLOCKS.items())
    (folder / "measured.csv").write_text(f"hex,cycles_per_100_iterations\n{rows}")


def exists(text: str) -> bool:
    """Whether what a command of make or cargo names is there."""
    words = shlex.split(text)
    if words[0] == "make":
        done = subprocess.run(["make", "-n", words[1]], cwd=ROOT, capture_output=True)
        return done.returncode == 0
    if "--example" in words:
        name = words[words.index("--example") + 1]
        return any(ROOT.glob(f"*/*/examples/{name}.rs"))
    return shutil.which("cargo") is not None


@functools.cache
def qemu_of(folder: pathlib.Path) -> str:
    """The QEMU that runs use outside of the tour."""
    words = [str(folder / "bin/mallacc"), "setup", "--path"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode().strip()


def run(command: Command, folder: pathlib.Path) -> tuple[int, str, float]:
    """Status, output and seconds of a command, or of what is run in its place."""
    text = command.text
    for pattern, instead, _ in INSTEAD:
        text = re.sub(pattern, instead, text)
    # Programs allocate for their environment, so it is the same for everybody.
    environment = {
        "PATH": f"{folder / 'bin'}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        # One that was built for this user is not in the home of the tour.
        **({"MALLACC_QEMU": qemu} if (qemu := qemu_of(folder)) else {}),
    }
    begun = time.monotonic()
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", text],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout.decode(errors="replace"), time.monotonic() - begun


def judge(command: Command, folder: pathlib.Path, options: argparse.Namespace) -> list[str]:
    """Runs a command; what is wrong with it."""
    status, printed, seconds = run(command, folder)
    print(f"{seconds:6.1f} s  {command.place}  {command.text.splitlines()[0]}", flush=True)
    if status != 0:
        return [f"status {status}", *printed.splitlines()[-12:]]
    if not command.output or options.statuses:
        return []
    wrong, today = compare(command, printed.splitlines())
    if options.update:
        lines = command.file.read_text(encoding="utf-8").splitlines()
        first = command.output_line - 1
        lines[first : first + len(command.output)] = today
        command.file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return wrong


def main() -> int:
    """Goes through all documents; the status is 1 if anything stumbles."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--mallacc", type=pathlib.Path, default=ROOT / "target/release/mallacc")
    parser.add_argument("--outputs", action="store_true")
    parser.add_argument("--statuses", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    usual = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), ROOT / "guest/README.md"]
    files = [file.resolve() for file in arguments.files] or usual
    stumbles = 0
    with tempfile.TemporaryDirectory(dir=PLACE) as name:
        folder = pathlib.Path(name)
        furnish(folder, arguments.mallacc.resolve())
        for file in files:
            for command in commands(file):
                if arguments.outputs and not command.output:
                    continue
                if not command.text.startswith("mallacc"):
                    wrong = [] if exists(command.text) else ["there is no such thing"]
                elif command.text in LONG and not arguments.long:
                    print(f"left out  {command.place}  {command.text} ({LONG[command.text]})")
                    continue
                else:
                    wrong = judge(command, folder, arguments)
                stumbles += bool(wrong)
                for line in wrong:
                    print(f"          {line}")
    print(f"{stumbles} stumbles" if stumbles else "no stumble")
    return 1 if stumbles else 0


if __name__ == "__main__":
    sys.exit(main())
