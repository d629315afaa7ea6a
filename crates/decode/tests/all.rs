//! Blocks, tables and values. One program for all test files, so that little is linked.

mod blocks;
mod common;
mod table;
mod uops;
