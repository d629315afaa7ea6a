#!/bin/sh
# Code size of the C library on Cortex-M3 (thumbv7m) and RV32IMAC: bytes and instructions of what
# a program that allocates and frees links in. Needs Debian's gcc-arm-none-eabi and
# gcc-riscv64-unknown-elf. The Rust side needs a `core` for those targets, which Debian does not
# package: it is compiled from Debian's rust-web-src with Debian's rustc-web, both unpacked into
# the build folder without being installed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=${SMA_CODE_SIZE_DIR:-${TMPDIR:-/tmp}/sma-code-size}
mkdir -p "$work" && cd "$work"

for tool in arm-none-eabi-gcc riscv64-unknown-elf-gcc apt-get dpkg; do
  if ! command -v "$tool" >/dev/null; then
    echo "code-size: skipped, no $tool (apt-get install gcc-arm-none-eabi gcc-riscv64-unknown-elf)"
    exit 0
  fi
done

if ! [ -x root/usr/bin/rustc ]; then
  # depends PACKAGE PATTERN: the dependency of the package that the pattern matches.
  depends() { apt-cache depends "$1" 2>/dev/null | sed -n "s/.*Depends: \\($2\\).*/\\1/p"; }
  std=$(depends rustc-web libstd-rust-web-dev)
  runtime=$(depends libstd-rust-web-dev 'libstd-rust-web-[0-9.]*')
  llvm=$(depends "$runtime" 'libllvm[0-9]*')
  if ! apt-get download rustc-web rust-web-src "$std" "$runtime" "$llvm" 2>/dev/null; then
    echo 'code-size: skipped, rustc-web and rust-web-src cannot be downloaded'
    exit 0
  fi
  for package in *.deb; do dpkg -x "$package" root; done
fi
export LD_LIBRARY_PATH="$work/root/usr/lib/$(uname -m)-linux-gnu" RUSTC_BOOTSTRAP=1
rustc="$work/root/usr/bin/rustc"
library=$(echo root/usr/src/rustc-*/library)

cat >builtins.rs <<'RUST'
#![feature(compiler_builtins)]
#![compiler_builtins]
#![no_std]
RUST
cat >size.c <<'C'
#include "sma.h"
sma_heap heap;
sma_pool pool;
volatile sma_ref reference;
void _start(void) {
#ifdef WITH_POOL
  reference = sma_pool_alloc(&pool, reference);
  sma_pool_free(&pool, reference);
#else
  reference = sma_alloc(&heap, reference);
  sma_free(&heap, reference);
#endif
  for (;;) {
  }
}
C

measure() { # target, tool prefix, machine flags
  target=$1 prefix=$2 machine=$3
  mkdir -p "$target"
  common="--target $target --edition 2024 -C opt-level=s -C panic=abort -C codegen-units=1
          -L $target --out-dir $target --cap-lints allow"
  if ! [ -f "$target/libcore.rlib" ]; then
    # shellcheck disable=SC2086
    "$rustc" $common --crate-type rlib --crate-name core -Z force-unstable-if-unmarked \
      "$library/core/src/lib.rs"
    # shellcheck disable=SC2086
    "$rustc" $common --crate-type rlib --crate-name compiler_builtins builtins.rs
  fi
  # shellcheck disable=SC2086
  "$rustc" $common --crate-type rlib --crate-name sma "$here/../sma/src/lib.rs"
  # shellcheck disable=SC2086
  "$rustc" $common --crate-type staticlib --crate-name sma_c --extern "sma=$target/libsma.rlib" \
    "$here/src/lib.rs"
  for kind in plain exact checked fine pool; do
    case $kind in
      pool) flags=-DWITH_POOL ;;
      *) flags=-DSMA_KIND=$kind ;;
    esac
    # shellcheck disable=SC2086
    "$prefix-gcc" $machine $flags -Os -ffreestanding -nostdlib -nostartfiles -Wl,--gc-sections \
      -Wl,-e,_start -I "$here/include" size.c "$target/libsma_c.a" -lgcc -o size.elf 2>link.log ||
      { cat link.log; exit 1; }
    bytes=$("$prefix-size" size.elf | awk 'NR == 2 { print $1 }')
    count=$("$prefix-objdump" -d size.elf | grep -cE '^ +[0-9a-f]+:[[:space:]]')
    printf '%-30s %-8s %6s bytes %6s instructions\n' "$target" "$kind" "$bytes" "$count"
  done
}

measure thumbv7m-none-eabi arm-none-eabi '-mcpu=cortex-m3 -mthumb'
measure riscv32imac-unknown-none-elf riscv64-unknown-elf '-march=rv32imac -mabi=ilp32'
