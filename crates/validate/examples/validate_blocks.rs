//! Compares the core model with a file of measured blocks:
//! `validate_blocks FILE.csv [--machine M] [--worst N] [--category C] [--threads N] [--rows]
//! [--timeline HEX] [--html HEX]`.

use std::error::Error;
use std::num::NonZero;
use std::process::ExitCode;

use mallacc_validate::{Blocks, Category, bhive, code, html, report};
use uarch::Machine;

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<(), Box<dyn Error>> {
    let option = |name: &str| {
        args.iter().position(|a| a == name).and_then(|at| args.get(at + 1)).map(String::as_str)
    };
    let machine = Machine::find(option("--machine").unwrap_or("haswell"))?;
    let blocks = Blocks::new(&machine)?;
    if let Some(hex) = option("--timeline") {
        println!("{:#?}", blocks.predict(&code::parse_hex(hex)?)?);
        print!("{}", blocks.timeline(&code::parse_hex(hex)?, 100, 4)?.text());
        return Ok(());
    }
    if let Some(hex) = option("--html") {
        print!("{}", html::page(&blocks.timeline(&code::parse_hex(hex)?, 100, 4)?, hex));
        return Ok(());
    }
    let file = args.first().ok_or("which file? validate_blocks FILE.csv")?;
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let rows = bhive::parse(&text).map_err(|e| format!("{file}: {e}"))?;
    let threads = option("--threads").map_or(Ok(NonZero::<usize>::MIN), str::parse)?;
    let (outcomes, errors) = bhive::predict(&blocks, rows, threads);
    if args.iter().any(|a| a == "--rows") {
        print!("{}", report::rows_csv(&outcomes));
        return Ok(());
    }
    let worst = option("--worst").map_or(Ok(0), str::parse)?;
    let category = option("--category").map(Category::find).transpose()?;
    print!("{}", report::report(&outcomes, &errors, worst, category).table());
    Ok(())
}
