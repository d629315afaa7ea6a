"""Runs the test programs on each build of the system and prints cycles per call.

report.py IMAGE.bin NAME=SIMULATOR...

Fails if a program gets other pointers with the malloc cache than without it.
"""

import subprocess
import sys


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit("usage: report.py IMAGE.bin NAME=SIMULATOR...")
    image, builds = sys.argv[1], [build.split("=", 1) for build in sys.argv[2:]]
    print(
        f"{'memory':34} {'program':12} {'malloc':>7} {'with':>7} {'':>6} "
        f"{'free':>7} {'with':>7} {'':>6} {'both':>6}"
    )
    for name, simulator in builds:
        run = subprocess.run([simulator, image], capture_output=True, text=True, check=False)
        for line in run.stdout.splitlines():
            program, *numbers, checksum, verdict = line.split()
            if verdict != "same":
                sys.exit(f"soc: {name}, {program}: the pointers differ with the malloc cache")
            mallocs, plain, fast, frees, plain_free, fast_free = map(int, numbers)
            both = (fast + fast_free) / (plain + plain_free) - 1
            print(
                f"{name:34} {program:12} {plain / mallocs:7.1f} {fast / mallocs:7.1f} "
                f"{fast / plain - 1:+6.0%} {plain_free / frees:7.1f} {fast_free / frees:7.1f} "
                f"{fast_free / plain_free - 1:+6.0%} {both:+6.0%}"
            )
        if run.returncode != 0:
            sys.exit(f"soc: {name}: ended with {run.returncode}: {run.stderr.strip()}")


if __name__ == "__main__":
    main()
