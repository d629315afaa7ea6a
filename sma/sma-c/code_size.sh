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

# Pools with words of 32 bits, as Table 1 counts them; the C library's pools have words of 64 bits,
# and it has no CAM.
cat >pools.rs <<'RUST'
#![no_std]
use sma::{Cam, Deferred, Heap, Lm, PowerOfTwo, Quick, Tagged, Unchecked};
type Pooled<P> = Deferred<&'static Heap<'static, 128, PowerOfTwo, Unchecked>, P>;
macro_rules! pool {
    ($alloc:ident, $free:ident, $pool:ty) => {
        #[no_mangle]
        pub unsafe extern "C" fn $alloc(pool: &'static Pooled<$pool>, bytes: usize) -> u32 {
            Tagged::new(pool).alloc(bytes).map_or(0, |handle| handle.into_raw())
        }
        #[no_mangle]
        pub unsafe extern "C" fn $free(pool: &'static Pooled<$pool>, reference: u32) -> bool {
            Tagged::new(pool).free_bits(reference).is_ok()
        }
    };
}
pool!(lm_alloc, lm_free, Lm);
pool!(cam_alloc, cam_free, Cam);
pool!(quick_alloc, quick_free, Quick);
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
RUST
cat >pools.c <<'C'
unsigned ALLOC(void *, unsigned long);
unsigned char FREE(void *, unsigned);
void *volatile pool;
volatile unsigned reference;
void _start(void) {
  reference = ALLOC(pool, reference);
  FREE(pool, reference);
  for (;;) {
  }
}
C

# dlmalloc, the crate, allocate and free over one arena, from the sources that cargo has fetched.
dlmalloc=$(find "${CARGO_HOME:-$HOME/.cargo}/registry/src" -path '*/dlmalloc-0.2*/src/lib.rs' \
  2>/dev/null | sort | tail -1)
cfg_if=$(find "${CARGO_HOME:-$HOME/.cargo}/registry/src" -path '*/cfg-if-1*/src/lib.rs' \
  2>/dev/null | sort | tail -1)
cat >dl.rs <<'RUST'
#![no_std]
pub struct Once;
static mut LEFT: usize = 4096;
static mut ARENA: [u64; 512] = [0; 512];
unsafe impl dlmalloc::Allocator for Once {
    fn alloc(&self, _: usize) -> (*mut u8, usize, u32) {
        unsafe {
            let left = LEFT;
            LEFT = 0;
            if left == 0 { (core::ptr::null_mut(), 0, 0) } else { (&raw mut ARENA as _, left, 0) }
        }
    }
    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 { core::ptr::null_mut() }
    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool { false }
    fn free(&self, _: *mut u8, _: usize) -> bool { false }
    fn can_release_part(&self, _: u32) -> bool { false }
    fn allocates_zeros(&self) -> bool { false }
    fn page_size(&self) -> usize { 4096 }
}
static mut HEAP: dlmalloc::Dlmalloc<Once> = dlmalloc::Dlmalloc::new_with_allocator(Once);
#[no_mangle]
pub unsafe extern "C" fn dl_malloc(n: usize) -> *mut u8 { (*(&raw mut HEAP)).malloc(n, 8) }
#[no_mangle]
pub unsafe extern "C" fn dl_free(p: *mut u8) { (*(&raw mut HEAP)).free(p, 0, 8) }
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
RUST
cat >dl.c <<'C'
void *dl_malloc(unsigned long);
void dl_free(void *);
void *volatile reference;
void _start(void) {
  reference = dl_malloc((unsigned long)reference);
  dl_free(reference);
  for (;;) {
  }
}
C

# What was linked, its bytes and its instructions.
count() { # prefix, target, kind, file
  bytes=$("$1-size" "$4" | awk 'NR == 2 { print $1 }')
  count=$("$1-objdump" -d "$4" | grep -cE '^ +[0-9a-f]+:[[:space:]]')
  printf '%-30s %-8s %6s bytes %6s instructions\n' "$2" "$3" "$bytes" "$count"
}

measure() { # target, tool prefix, machine flags
  target=$1 prefix=$2 machine=$3
  mkdir -p "$target"
  common="--target $target --edition 2024 -C opt-level=s -C panic=abort -C codegen-units=1
          -L $target --out-dir $target --cap-lints allow"
  edition2021=$(echo "$common" | sed 's/--edition 2024/--edition 2021/')
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
    count "$prefix" "$target" "$kind" size.elf
  done
  # shellcheck disable=SC2086
  "$rustc" $edition2021 --crate-type staticlib --crate-name pools \
    --extern "sma=$target/libsma.rlib" pools.rs
  for kind in lm cam quick; do
    # shellcheck disable=SC2086
    "$prefix-gcc" $machine "-DALLOC=${kind}_alloc" "-DFREE=${kind}_free" -Os -ffreestanding \
      -nostdlib -nostartfiles -Wl,--gc-sections -Wl,-e,_start pools.c "$target/libpools.a" -lgcc \
      -o pools.elf 2>link.log || { cat link.log; exit 1; }
    count "$prefix" "$target" "$kind" pools.elf
  done
  if [ -z "$dlmalloc" ] || [ -z "$cfg_if" ]; then
    echo "$target: dlmalloc left out, cargo has not fetched it (cargo fetch)"
    return 0
  fi
  common=$edition2021
  # shellcheck disable=SC2086
  "$rustc" $common --crate-type rlib --crate-name cfg_if "$cfg_if"
  # shellcheck disable=SC2086
  "$rustc" $common --crate-type rlib --crate-name dlmalloc \
    --extern "cfg_if=$target/libcfg_if.rlib" "$dlmalloc"
  # shellcheck disable=SC2086
  "$rustc" $common --crate-type staticlib --crate-name dl \
    --extern "dlmalloc=$target/libdlmalloc.rlib" dl.rs
  # The C library's copying functions are not counted.
  # shellcheck disable=SC2086
  "$prefix-gcc" $machine -Os -ffreestanding -nostdlib -nostartfiles -Wl,--gc-sections \
    -Wl,-e,_start -Wl,--defsym=__aeabi_memmove4=0 -Wl,--defsym=memmove=0 -Wl,--defsym=memcpy=0 \
    dl.c "$target/libdl.a" -lgcc -o dl.elf
  count "$prefix" "$target" dlmalloc dl.elf
  state=$("$prefix-nm" -S dl.elf | awk '/HEAP/ { print $2 }')
  echo "$target: dlmalloc's state: $((0x$state)) bytes"
}

measure thumbv7m-none-eabi arm-none-eabi '-mcpu=cortex-m3 -mthumb'
measure riscv32imac-unknown-none-elf riscv64-unknown-elf '-march=rv32imac -mabi=ilp32'
