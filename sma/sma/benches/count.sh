#!/bin/sh
# Instructions of a malloc and free pair, call included, for every trace of benches/pairs.rs.
#
#   count.sh PAIRS   PAIRS is the bench's program (`make instructions` builds it and calls this)
set -eu
pairs=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
printf '%-16s%9s%9s%9s%9s%9s\n' 'instructions' dlmalloc talc sma sma_lm quick
"$pairs" names | while IFS= read -r trace; do
  printf '%-16s' "$trace"
  for allocator in dlmalloc talc sma sma_lm quick; do
    done=$(valgrind --tool=callgrind --callgrind-out-file="$out/cg" --collect-atstart=no \
      --toggle-collect='*called_alloc*' --toggle-collect='*called_free*' \
      "$pairs" count "$trace" "$allocator" 2> "$out/log") || { cat "$out/log" >&2; exit 1; }
    sed -n 's/^\(totals\|summary\): //p' "$out/cg" | tail -1 |
      awk -v pairs="$done" '{ printf "%9.0f", $1 / pairs }'
  done
  echo
done
