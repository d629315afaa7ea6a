#!/bin/sh
# The main job on a real program, and the microbenchmarks: demo.sh MALLACC
set -eu
mallacc=$1
root=$(cd "$(dirname "$0")/.." && pwd)
store=$root/mallacc.db
begun=$(date +%s)

say() { printf '\n== %s\n\n' "$*"; }

say "perl over a text: hashes, strings, regular expressions"
"$mallacc" run --deterministic --store "$store" --workload perl

say "Microbenchmarks of the allocator"
"$mallacc" micro --store "$store"

say "Ten million pops, each checked against the true list"
"$mallacc" micro tp --iterations 200000 --repeats 26 --sample 10M:100k:100k --no-store \
  --config none --config mallacc:entries=16 --config mallacc:entries=32

say "Done in $(($(date +%s) - begun)) s; the results are in $store"
list=$("$mallacc" list --store "$store")
printf '%s\n' "$list" | head -n 1
printf '%s\n' "$list" | tail -n +2 | tail -n 8
cat <<END

Next:  $mallacc show --store $store --detail
       $mallacc run -- ./your-program
END
