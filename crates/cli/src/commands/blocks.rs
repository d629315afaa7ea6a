//! `mallacc block` and `mallacc validate blocks`: basic blocks on the core model.

use std::fs;
use std::io::Read as _;

use experiments::Failure;
use experiments::assemble::{Syntax, assemble};
use experiments::blocks::{self, Bench};

use crate::args::{AsmSyntax, BlockArgs, Format, ValidateBlocksArgs};
use crate::error::Done;
use crate::output::{Stream, print};

/// `mallacc block`. A bad block is reported and does not stop the others; the exit status is then
/// not 0.
pub fn block(args: &BlockArgs) -> Done {
    let bench = Bench::new(&args.machine)?;
    let mut list = list(&args.blocks)?;
    list.extend(assembled(args)?);
    if list.is_empty() {
        return Err(Failure::usage("no block: give machine code in hexadecimal; try 4801d8"));
    }
    let predictions = bench.predict(&list, args.format != Format::Csv);
    for (text, error) in &predictions.failed {
        let shown = if text.is_empty() { "\"\"" } else { text };
        eprintln!("mallacc: block {shown}: {error}");
    }
    if let Some(path) = &args.html
        && let Some(page) = predictions.page()?
    {
        fs::write(path, page)
            .map_err(|e| Failure::failed(format!("cannot write {}: {e}", path.display())))?;
    }
    let mut out = match args.format {
        Format::Json => predictions.json(),
        Format::Csv => predictions.csv(),
        Format::Table => predictions.text(),
    };
    if args.timeline {
        out += &predictions.timelines()?;
    }
    print(Stream::Stdout, &out)?;
    Ok(u8::from(!predictions.failed.is_empty()))
}

/// The blocks in assembly language, as machine code in hexadecimal.
fn assembled(args: &BlockArgs) -> Result<Vec<String>, Failure> {
    if args.asm.iter().chain(&args.blocks).filter(|text| *text == "-").count() > 1 {
        return Err(Failure::usage("`-` is named twice; standard input can be read once"));
    }
    let syntax = match args.syntax {
        AsmSyntax::Intel => Syntax::Intel,
        AsmSyntax::Att => Syntax::Att,
    };
    let block = |argument: &String| {
        let text = match argument.strip_prefix('@') {
            Some(file) => fs::read_to_string(file).map_err(|e| {
                Failure::usage(format!("--asm @{file}: cannot read: {e}; give a text file"))
            })?,
            None if argument == "-" => standard_input()?,
            None => argument.clone(),
        };
        let code = assemble(&text, syntax)?;
        if code.is_empty() {
            return Err(Failure::usage("--asm: no instruction in it; try --asm 'add rax, rbx'"));
        }
        Ok(code.iter().map(|byte| format!("{byte:02x}")).collect())
    };
    args.asm.iter().map(block).collect()
}

fn standard_input() -> Result<String, Failure> {
    let mut input = String::new();
    std::io::stdin()
        .read_to_string(&mut input)
        .map_err(|e| Failure::failed(format!("standard input: cannot read: {e}")))?;
    Ok(input)
}

/// The named blocks; `-` stands for the lines of standard input.
fn list(blocks: &[String]) -> Result<Vec<String>, Failure> {
    let mut list = Vec::new();
    for text in blocks {
        if text == "-" {
            let input = standard_input()?;
            list.extend(input.lines().map(str::trim).filter(|l| !l.is_empty()).map(str::to_owned));
        } else {
            list.push(text.clone());
        }
    }
    Ok(list)
}

/// `mallacc validate blocks`.
pub fn validate(args: &ValidateBlocksArgs) -> Done {
    let category = args.category.as_deref();
    let report = blocks::validate(&args.machine, &args.file, args.worst, category)?;
    let out = match args.format {
        Format::Table => report.table(),
        Format::Json => report.json(),
        Format::Csv => report.csv(),
    };
    print(Stream::Stdout, &out)?;
    if args.format == Format::Csv {
        // The other formats list them themselves.
        for error in &report.left_out {
            eprintln!("mallacc: {}: {error}", args.file.display());
        }
    }
    Ok(u8::from(!report.left_out.is_empty()))
}
