//! The QEMU plugin: captures what a guest executes and hands it over; no timing.
