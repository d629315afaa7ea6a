#!/usr/bin/env python3
"""Speed and memory of the simulator: run.py MALLACC [--quick]

Writes raw figures and a README into bench/runs/<date>-<cores>cores[-quick]/.
"""

import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time
from typing import NotRequired, TypedDict

ROOT = pathlib.Path(__file__).resolve().parent
KEYS, KEYS_QUICK = 300_000, 20_000
# More instructions than any program executes: all of them only warm.
ALL = str(10**15)
# What the project demands: name, unit, bound, and whether that is a lower bound.
DEMANDS = {
    "detailed": ("detailed Haswell, baseline only", "M instructions/s", 10.0, True),
    "warming": ("functional warming", "M instructions/s", 40.0, True),
    "recording": ("recording", "M instructions/s", 100.0, True),
    "two_to_one": ("wall time of two configurations to that of one", "", 1.25, False),
    "memory": ("peak resident memory", "MB", 500.0, False),
}


class Run(TypedDict):
    """What one run took."""

    name: str
    arguments: list[str]
    status: int
    wall_seconds: float
    user_seconds: float
    system_seconds: float
    peak_resident_mb: float
    load_before: float
    # Only simulations have host_seconds, only recordings have bytes.
    host_seconds: NotRequired[float]
    instructions: NotRequired[int]
    mips: NotRequired[float]
    bytes: NotRequired[int]


def program(keys: int) -> list[str]:
    """Perl, hashing that many keys."""
    return [
        "perl",
        "-e",
        (
            f'my %h; for my $i (1..{keys}){{$h{{"key$i"}}=$i; }} my $s=0; '
            f'$s+=$h{{"key$_"}} for 1..{keys}; print "$s\\n"'
        ),
    ]


class Bench:
    """Runs the command and keeps the figures of each run."""

    def __init__(self, mallacc: str, keys: int) -> None:
        self.mallacc, self.keys = mallacc, keys
        self.raw: list[Run] = []

    def run(self, name: str, arguments: list[str], report: str | None = None) -> Run:
        """One run: wall and processor time, peak memory, and the report's figures."""
        begun = time.monotonic()
        process = subprocess.Popen([self.mallacc, *arguments], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        row: Run = {
            "name": name,
            "arguments": arguments,
            "status": os.waitstatus_to_exitcode(status),
            "wall_seconds": time.monotonic() - begun,
            "user_seconds": usage.ru_utime,
            "system_seconds": usage.ru_stime,
            "peak_resident_mb": usage.ru_maxrss / 1024,
            "load_before": os.getloadavg()[0],
        }
        if row["status"] != 0:
            sys.exit(f"bench: {name} failed with {row['status']}: {arguments}")
        if report:
            document = json.loads(pathlib.Path(report).read_text())
            row["host_seconds"] = document["host_seconds"]
            row["instructions"] = document["instructions"]
            row["mips"] = document["mips"]
        self.raw.append(row)
        rate = f", {row['mips']:.1f} M instructions/s" if report else ""
        print(f"bench: {name}: {row['wall_seconds']:.1f} s{rate}", flush=True)
        return row

    def simulate(self, name: str, folder: str, options: list[str]) -> Run:
        """A live simulation."""
        report = os.path.join(folder, "report.json")
        arguments = ["run", "--no-store", "--quiet", "--deterministic", "--format", "json"]
        arguments += ["--output", report, *options, "--", *program(self.keys)]
        return self.run(name, arguments, report)

    def all(self, folder: str) -> dict[str, float]:
        """Every figure by name."""
        baseline = ["--no-sample", "--config", "none"]
        detailed = self.simulate("detailed", folder, baseline)
        two = self.simulate("two", folder, [*baseline, "--config", "mallacc:entries=32"])
        four = self.simulate("four", folder, ["--no-sample"])
        warming = self.simulate("warming", folder, ["--config", "none", "--skip", ALL])
        sampled = self.simulate("sampled", folder, ["--config", "none"])
        trace = os.path.join(folder, "x.mtrace")
        recording = self.run(
            "recording",
            ["record", "--quiet", "--deterministic", "-o", trace, "--", *program(self.keys)],
        )
        recording["instructions"] = detailed["instructions"]
        recording["mips"] = detailed["instructions"] / recording["wall_seconds"] / 1e6
        recording["bytes"] = os.path.getsize(trace)
        return {
            "detailed": detailed["mips"],
            "warming": warming["mips"],
            "recording": recording["mips"],
            "two_to_one": two["host_seconds"] / detailed["host_seconds"],
            "memory": max(row["peak_resident_mb"] for row in self.raw),
            "four_to_one": four["host_seconds"] / detailed["host_seconds"],
            "sampled": sampled["mips"],
            "trace_bits_per_instruction": 8 * recording["bytes"] / recording["instructions"],
        }


def processor() -> str:
    """The processor's name."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def revision() -> str:
    """The checkout's short revision; an unpacked archive has none."""
    asked = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False)
    return answer.stdout.strip() or "unknown"


def readme(figures: dict[str, float], facts: dict[str, str]) -> str:
    """The figures beside what is demanded."""
    lines = ["# Speed and memory", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += ["", "| what | figure | demanded | met |", "|---|---|---|---|"]
    for key, (what, unit, bound, least) in DEMANDS.items():
        met = figures[key] >= bound if least else figures[key] <= bound
        word = "at least" if least else "at most"
        answer = "yes" if met else "**no**"
        lines.append(f"| {what} | {figures[key]:.2f} {unit} | {word} {bound:g} | {answer} |")
    lines += [
        f"| wall time of four configurations to that of one | {figures['four_to_one']:.2f} | | |",
        f"| sampled, as is usual above the budget | {figures['sampled']:.2f} M/s | | |",
        f"| recorded | {figures['trace_bits_per_instruction']:.2f} bits/instruction | | |",
        "",
        "Raw figures: `figures.json`. Rates are the program's instructions over wall time, with",
        "QEMU running beside the simulator. A load above 0 before the runs makes them slower.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--quick"]):
        sys.exit(__doc__.splitlines()[0])
    quick = len(sys.argv) == 3
    bench = Bench(os.path.abspath(sys.argv[1]), KEYS_QUICK if quick else KEYS)
    facts = {
        "date": datetime.date.today().isoformat(),
        "revision": os.environ.get("MALLACC_REVISION") or revision(),
        "processor": f"{processor()}, {os.cpu_count()} cores",
        "load before": f"{os.getloadavg()[0]:.1f}",
        "program": f"perl hashing {bench.keys:,} keys",
    }
    with tempfile.TemporaryDirectory() as folder:
        figures = bench.all(folder)
    name = f"{facts['date']}-{os.cpu_count()}cores{'-quick' if quick else ''}"
    place = ROOT / "runs" / name
    place.mkdir(parents=True, exist_ok=True)
    document = {"facts": facts, "figures": figures, "runs": bench.raw}
    (place / "figures.json").write_text(json.dumps(document, indent=2) + "\n")
    (place / "README.md").write_text(readme(figures, facts))
    print((place / "README.md").read_text() + f"\nwritten to {place}")


main()
