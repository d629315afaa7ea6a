//! The mallacc command.
fn main() {}
