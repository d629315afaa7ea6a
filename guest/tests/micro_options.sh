#!/bin/sh
# The microbenchmarks' command line, and that the summary line depends on the inputs only.
#
# usage: tests/micro_options.sh BUILD_DIR
set -u
micro=$1/micro
failed=0
check() {
  if [ "$2" = "$3" ]; then echo "ok   $1"; else
    echo "FAIL $1: $2 instead of $3"
    failed=1
  fi
}
refused() {
  message=$("$micro/tp" "$@" 2>&1)
  code=$?
  case $message in
    *usage:*) ;;
    *) code="$code, without usage" ;;
  esac
  check "tp $* is refused" $code 2
}
refused --repeats 1
refused --iterations 0
refused --iterations -3
refused --iterations 12x
refused --seed
refused --frobnicate 1
for name in tp tp_small sized_deletes gauss gauss_free antagonist; do
  line=$("$micro/$name" --iterations 100 --repeats 3 --seed 7)
  check "$name prints one line" "$(printf '%s\n' "$line" | wc -l)" 1
  check "$name names its options" "${line%%, inputs*}" \
    "$name: 3 repeats of 100 iterations, seed 7"
  check "$name repeats" "$("$micro/$name" --iterations 100 --repeats 3 --seed 7)" "$line"
done
for name in tp gauss_free; do
  out=$("$micro/$name" --iterations 100 --repeats 4 --time)
  samples=$(printf '%s\n' "$out" |
    grep -c '^sample: [0-9]* ticks, [0-9]* before, [0-9]* after, [0-9]* four$')
  check "$name --time prints a sample for each repeat but the first" "$samples" 3
  check "$name --time has the same inputs" "${out##*inputs}" \
    "$("$micro/$name" --iterations 100 --repeats 4 | sed 's/.*inputs//')"
done
a=$("$micro/gauss" --iterations 100 --repeats 3 --seed 7)
b=$("$micro/gauss" --iterations 100 --repeats 3 --seed 8)
check "another seed, other inputs" "$([ "${a#*inputs}" != "${b#*inputs}" ] && echo differ)" differ
exit $failed
