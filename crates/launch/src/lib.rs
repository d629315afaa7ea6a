//! Finds a program, starts it under QEMU with the feeder and the guest allocator, and yields its stream.
