//! The example of the documentation runs.

#[path = "../examples/ten_lines.rs"]
mod ten_lines;

#[test]
fn the_ten_line_example_runs() {
    ten_lines::main();
}
