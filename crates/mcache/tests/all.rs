//! The malloc cache against naive models. One test program for all files, to keep linking short.

mod free_list;
mod naive;
