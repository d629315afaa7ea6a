//! Files of measurements, and reports. One program for all test files, so that little is linked.

mod blocks;
mod hierarchy;
mod measured;
mod values;
