//! Options that take a number: the error states the whole rule and a value that meets it.

/// Repeats of a microbenchmark, as its own command line has them.
pub fn repeats(text: &str) -> Result<u64, String> {
    within(text, 2, 1000, ", because the first is a warm-up; try 13")
}

/// Iterations in each repeat of a microbenchmark.
pub fn iterations(text: &str) -> Result<u64, String> {
    within(text, 1, 1 << 28, "; try 32768")
}

/// A seed.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "must be a whole number, 0 or more; try 1".to_owned())
}

/// The seed of an execution.
pub fn first_seed(text: &str) -> Result<u64, String> {
    within(text, 1, u64::from(u32::MAX), "; try 1")
}

/// Simulations of each machine.
pub fn seeds(text: &str) -> Result<u64, String> {
    within(text, 1, 100, "; try 3")
}

/// How often a program is executed for one figure.
pub fn executions(text: &str) -> Result<u64, String> {
    within(text, 1, 100, "; try 5")
}

/// Subsets of a trace.
pub fn subsets(text: &str) -> Result<u32, String> {
    Ok(within(text, 1, 1000, "; try 10")? as u32)
}

/// Parallel jobs of a build.
pub fn jobs(text: &str) -> Result<usize, String> {
    Ok(within(text, 1, 1024, "; try 2")? as usize)
}

/// Processes in which a benchmark is timed.
pub fn processes(text: &str) -> Result<u32, String> {
    Ok(within(text, 1, 1000, "; try 10")? as u32)
}

/// Lines of a list.
pub fn lines(text: &str) -> Result<usize, String> {
    Ok(within(text, 0, 1_000_000, "; try 20")? as usize)
}

/// A percentage.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "must be a number of percent; try 0.5".to_owned())
}

fn within(text: &str, least: u64, most: u64, remedy: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("must be a whole number from {least} to {most}{remedy}")),
    }
}
