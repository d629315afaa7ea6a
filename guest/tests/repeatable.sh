#!/bin/sh
# Nothing depends on where memory lies or what time it is: under QEMU, two runs of a program execute
# the same number of instructions. Native runs differ in their addresses, so they are no test, and
# nor are those of later QEMUs (seen with 10.0): the host gives them addresses as it likes. There the
# plugin places the program, which the launcher's tests of determinism are about.
#
# usage: tests/repeatable.sh BUILD_DIR
set -u
qemu=${MALLACC_QEMU:-qemu-x86_64}
if ! command -v "$qemu" >/dev/null; then
  echo "skip repeatable: $qemu is not installed"
  exit 0
fi
if ! "$qemu" --version | grep "version 7\\." >/dev/null; then
  echo "skipped: guest repeatable: only QEMU 7 puts programs at the same addresses without the plugin"
  exit 0
fi
lib=$(cd "$1" && pwd)/libmallacc_guest.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Every executed block, in order; the checksum of the list is the run.
trace() {
  "$qemu" -cpu Haswell,-pcid,-x2apic,-tsc-deadline,-hle,-rtm,-invpcid -E LD_PRELOAD="$lib" \
    -seed 1 -d exec,nochain -D "$work/log" "$1/micro/gauss_free" --iterations 1500 --repeats 2 >/dev/null
  sed 's/.*\[//' "$work/log" | cksum
}
first=$(trace "$1")
second=$(trace "$1")
if [ -n "$first" ] && [ "$first" = "$second" ]; then
  echo "ok   two runs execute the same blocks in the same order ($first)"
else
  echo "FAIL two runs differ: $first and $second"
  exit 1
fi
