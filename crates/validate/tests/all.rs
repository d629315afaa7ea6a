//! Files of measurements, and reports. All test files form one program, to save linking.

mod blocks;
mod bottlenecks;
mod hierarchy;
mod measured;
mod values;
