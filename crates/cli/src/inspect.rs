//! Commands that run nothing: list, show, machines, accelerators, completions.

use accel::registry;
use clap::CommandFactory;
use clap_complete::Shell;
use params::{Notes, Param};
use results::store::Store;
use results::text;
use std::fmt::Write as _;
use uarch::Machine;
use uarch::machine::BUILT_IN;

use crate::args::{Cli, ListArgs, ReportArgs, ShowArgs};
use crate::error::{Done, Failure};
use crate::output::{Output, Stream, print, style};

/// `mallacc list`.
pub fn list(args: &ListArgs) -> Done {
    let runs = Store::open_existing(&args.store)?.list()?;
    if runs.is_empty() {
        return Err(no_runs(&args.store));
    }
    print(Stream::Stdout, &text::list(&runs, &style(Stream::Stdout)))?;
    Ok(0)
}

fn no_runs(store: &std::path::Path) -> Failure {
    Failure::failed(format!(
        "store {}: holds no runs yet; make one with `mallacc run -- PROGRAM`",
        store.display()
    ))
}

/// `mallacc show`.
pub fn show(args: &ShowArgs) -> Done {
    let store = Store::open_existing(&args.store)?;
    let id = match (args.run, store.ids()?.last()) {
        (Some(id), _) => id,
        (None, Some(&latest)) => latest,
        (None, None) => return Err(no_runs(&args.store)),
    };
    let run = store.load(id)?;
    let report = ReportArgs {
        format: args.format,
        output: args.output.clone(),
        detail: args.detail,
        ..ReportArgs::default()
    };
    Output::open(&report, Stream::Stdout)?.run(&run)?;
    Ok(0)
}

/// `mallacc accelerators`.
pub fn accelerators() -> Done {
    let mut text = String::new();
    for model in registry() {
        let _ = writeln!(text, "{}\n    {}", model.name(), model.describe());
        let defaults = model.defaults();
        for parameter in model.parameters() {
            let value = defaults.get(parameter.name).map(ToString::to_string).unwrap_or_default();
            let setting = format!("{}={value}", parameter.name);
            let unit = if parameter.unit.is_empty() { "" } else { " " };
            let about = parameter.text.trim();
            let _ = writeln!(text, "    {setting:24}{unit}{} {about}", parameter.unit);
        }
        text.push('\n');
    }
    text += "Use one as --config NAME[:KEY=VALUE,…]; values are numbers, on or off.\n";
    print(Stream::Stdout, &text)?;
    Ok(0)
}

/// `mallacc machines`.
pub fn machines(name: Option<&str>) -> Done {
    let mut text = String::new();
    match name {
        None => {
            for (name, _) in BUILT_IN {
                let _ = writeln!(text, "{name}");
            }
            text += "\nShow all parameters of one with: mallacc machines NAME.\n\
                     A machine file (TOML) sets what differs from the defaults: \
                     --machine FILE.toml\n";
        }
        Some(name) => {
            let file = Machine::file(name)?;
            let machine = Machine::parse(&file, name)?;
            let _ = writeln!(text, "# {}\n", machine.name);
            let values = machine.write();
            if machine == Machine::default() {
                text += &params::markdown(&machine.parameters(), &values);
            } else {
                let notes = Notes::of(&file);
                let _ = writeln!(text, "{}", notes.head);
                text += &notes.markdown(&machine.parameters(), &values);
            }
        }
    }
    print(Stream::Stdout, &text)?;
    Ok(0)
}

/// `mallacc completions`.
pub fn completions(shell: Shell) -> Done {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "mallacc", &mut text);
    let text = String::from_utf8(text).map_err(|_| Failure::failed("completions are not text"))?;
    print(Stream::Stdout, &text)?;
    Ok(0)
}
