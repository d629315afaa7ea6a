#!/bin/sh
# Nanoseconds per malloc/free pair of this library and of the allocators that are installed.
#
# usage: bench/run.sh BUILD_DIR
set -u
build=$(cd "$1" && pwd)
libs=/usr/lib/x86_64-linux-gnu
printf '%-22s %10s %10s %10s %10s %10s\n' 'ns per pair' tight batches churn large '2 threads'
row() {
  printf '%-22s' "$1"
  LD_PRELOAD=$2 "$build/bench/pairs"
}
row mallacc "$build/libmallacc_guest.so"
row 'mallacc, no markers' "$build/libmallacc_guest_plain.so"
row glibc ''
for name in libtcmalloc_minimal.so.4 libjemalloc.so.2 libmimalloc.so.2.0; do
  if [ -e "$libs/$name" ]; then
    row "${name%%.so*}" "$libs/$name"
  else
    echo "skip ${name%%.so*}: $libs/$name is not installed"
  fi
done
