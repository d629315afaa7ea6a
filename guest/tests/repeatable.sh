#!/bin/sh
# Nothing depends on where memory lies or what time it is: under QEMU, two runs of a program execute
# the same number of instructions. Native runs differ in their addresses, so they are no test.
#
# usage: tests/repeatable.sh BUILD_DIR
set -u
qemu=${MALLACC_QEMU:-qemu-x86_64}
if ! command -v "$qemu" >/dev/null; then
  echo "skip repeatable: $qemu is not installed"
  exit 0
fi
lib=$(cd "$1" && pwd)/libmallacc_guest.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# QEMU 7.2 puts memory at the same addresses every time, later versions where the kernel does.
fixed=
if setarch -R true 2>/dev/null; then fixed="setarch -R"; fi
# Every executed block, in order; the checksum of the list is the run.
trace() {
  $fixed "$qemu" -cpu Haswell,-pcid,-x2apic,-tsc-deadline,-hle,-rtm,-invpcid -E LD_PRELOAD="$lib" \
    -seed 1 -d exec,nochain -D "$work/log" "$1/micro/gauss_free" --iterations 1500 --repeats 2 >/dev/null
  sed 's/.*\[//' "$work/log" | cksum
}
first=$(trace "$1")
second=$(trace "$1")
if [ -n "$first" ] && [ "$first" = "$second" ]; then
  echo "ok   two runs execute the same blocks in the same order ($first)"
elif [ -z "$fixed" ] && ! "$qemu" --version | grep -q "version 7\."; then
  echo "skipped: guest repeatable: this system does not let setarch -R fix addresses"
else
  echo "FAIL two runs differ: $first and $second"
  exit 1
fi
