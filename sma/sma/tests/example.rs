//! Runs the example from the documentation.

#[path = "../examples/ten_lines.rs"]
mod ten_lines;

#[test]
fn the_ten_line_example_runs() {
    ten_lines::main();
}

#[test]
fn the_introduction_shows_the_examples_that_run() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let Ok(readme) = std::fs::read_to_string(format!("{root}/README.md")) else {
        skips::without("this crate stands alone, without the repository's README.md");
        return;
    };
    let shown: Vec<&str> = readme.lines().map(str::trim).collect();
    for (file, from) in [
        ("sma/sma/examples/ten_lines.rs", "pub fn main() {"),
        ("sma/sma-c/examples/ten_lines.c", "int main(void) {"),
    ] {
        let text = std::fs::read_to_string(format!("{root}/{file}")).unwrap();
        let body = text.lines().skip_while(|line| *line != from).skip(1);
        for line in body.map(str::trim).filter(|line| *line != "}" && !line.is_empty()) {
            assert!(shown.contains(&line), "{file}: README.md lacks {line}");
        }
    }
}
