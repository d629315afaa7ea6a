//! Tells the compiler that `--cfg loom` is a known name and not a typing error.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(loom)");
    println!("cargo::rerun-if-changed=build.rs");
}
