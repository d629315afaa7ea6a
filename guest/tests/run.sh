#!/bin/sh
# All tests of the guest side; continues after a failure and says at the end what failed.
#
# usage: tests/run.sh BUILD_DIR
#
# What is skipped says so in a line that .ci/totals counts. With MALLACC_REQUIRE=tools in the
# environment want of a tool is a failure.
set -u
build=$1
here=$(dirname "$0")
failed=

run() {
  name=$1
  shift
  echo "== $name"
  "$@" || failed="$failed $name"
}

skip() {
  echo "skipped: guest $1: $2"
  [ "${MALLACC_REQUIRE:-}" != tools ] || failed="$failed $1"
}

run size_classes "$build/tests/size_classes"
run conformance "$build/tests/conformance"
run conformance_without_markers \
  env LD_PRELOAD="$build/libmallacc_guest_plain.so" "$build/tests/conformance"
run threads "$build/tests/threads"
run exhaustion "$build/tests/exhaustion"
run sampling "$here/sampling.sh" "$build"
run malloc_cache "$build/tests/malloc_cache"
run micro_options "$here/micro_options.sh" "$build"
run repeatable "$here/repeatable.sh" "$build"
if command -v python3 >/dev/null; then
  run code python3 "$here/check_code.py" "$build"
  run header python3 "$here/check_header.py" "$build"
else
  skip code "python3 is not installed"
  skip header "python3 is not installed"
fi
run programs "$here/programs.sh" "$build"

if [ -n "$failed" ]; then
  echo "guest: failed:$failed"
  exit 1
fi
echo "guest: all tests passed"
