//! Runs the example from the documentation.

#[path = "../examples/ten_lines.rs"]
mod ten_lines;

/// The part of the introduction between the first line that is `open` and the next fence.
fn shown<'a>(readme: &'a str, open: &str) -> Vec<&'a str> {
    let heap = readme.lines().skip_while(|line| !line.starts_with("## SMA"));
    let block = heap.skip_while(|line| *line != open).skip(1);
    block.take_while(|line| *line != "```").filter(|line| !line.is_empty()).collect()
}

/// The lines of an example's `main`, without their indentation.
fn body<'a>(file: &'a str, main: &str, indentation: usize) -> Vec<&'a str> {
    let lines = file.lines().skip_while(|line| *line != main).skip(1);
    lines.take_while(|line| *line != "}").map(|line| &line[indentation..]).collect()
}

/// What the example prints; this test is started again, because it prints to stdout.
#[test]
fn the_ten_line_example_runs_and_has_3000_bytes_free() {
    let this = "the_ten_line_example_runs_and_has_3000_bytes_free";
    if std::env::var_os("SMA_EXAMPLE").is_some() {
        return ten_lines::main();
    }
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    let output = again.args([this, "--exact", "--nocapture"]).env("SMA_EXAMPLE", "1").output();
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    // 40 bytes of state; 20 bytes in a region of 32 and 1,000 in seven blocks and 128 bytes.
    let free = 4096 - 40 - 32 - (7 * 128 + 128);
    assert!(text.contains(&format!("{free} bytes free")), "{text}");
}

#[test]
fn the_introduction_shows_the_examples_that_run() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let read = |file: &str| std::fs::read_to_string(format!("{root}/{file}"));
    let Ok(readme) = read("README.md") else {
        skips::without("this crate stands alone, without the repository's README.md");
        return;
    };
    let rust = read("sma/sma/examples/ten_lines.rs").unwrap();
    let uses = rust.lines().filter(|line| line.starts_with("use "));
    let rust: Vec<_> = uses.chain(body(&rust, "pub fn main() {", 4)).collect();
    assert_eq!(shown(&readme, "```rust"), rust);
    let c = read("sma/sma-c/examples/ten_lines.c").unwrap();
    assert_eq!(shown(&readme, "```c"), body(&c, "int main(void) {", 2));
}
