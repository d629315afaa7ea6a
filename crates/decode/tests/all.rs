//! Blocks, tables and values. All test files form one program, to save linking.

mod blocks;
mod common;
mod table;
mod uops;
