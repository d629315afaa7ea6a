//! The malloc cache against naive models. One program for all test files, so that little is linked.

mod free_list;
mod naive;
