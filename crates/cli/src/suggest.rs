//! Suggestions for misspelt commands, options and values. clap compares names in its own way; what
//! is suggested is decided by the one function that decides it everywhere.

use clap::error::{ContextKind, ContextValue};
use clap::{Error, Parser};
use experiments::near;

use crate::args::Cli;

/// What may be misspelt, and what clap suggests for it.
const PAIRS: [(ContextKind, ContextKind); 3] = [
    (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
    (ContextKind::InvalidArg, ContextKind::SuggestedArg),
    (ContextKind::InvalidValue, ContextKind::SuggestedValue),
];

/// Reads the command line; help and errors end the process.
pub fn parse() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| only_near(error).exit())
}

/// The error without suggestions that are not near what was written.
fn only_near(mut error: Error) -> Error {
    for (written, suggested) in PAIRS {
        let Some(ContextValue::String(name)) = error.get(written).cloned() else { continue };
        let all = match error.remove(suggested) {
            Some(ContextValue::String(one)) => vec![one],
            Some(ContextValue::Strings(all)) => all,
            _ => continue,
        };
        let plain = |text: &str| text.trim_start_matches('-').to_owned();
        let Some(found) = near(&plain(&name), all.iter().map(|one| one.trim_start_matches('-')))
        else {
            continue;
        };
        let found = all.iter().find(|one| plain(one) == found).cloned().unwrap_or_default();
        let value = match suggested {
            ContextKind::SuggestedSubcommand => ContextValue::Strings(vec![found]),
            _ => ContextValue::String(found),
        };
        error.insert(suggested, value);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(words: &[&str]) -> String {
        let words = ["mallacc"].iter().chain(words);
        only_near(Cli::try_parse_from(words).unwrap_err()).to_string()
    }

    #[test]
    fn what_is_near_is_suggested_once_and_what_is_not_is_not() {
        for (words, near) in [
            (&["reprot"][..], "'report'"),
            (&["run", "--fromat", "json", "sh"], "'--format'"),
            (&["show", "--format", "jsno"], "'json'"),
        ] {
            assert_eq!(error(words).matches(near).count(), 1, "{}", error(words));
        }
        // For each of these clap has a suggestion: they are similar at their beginning.
        for (words, far) in
            [(&["machine-file"][..], "'machines'"), (&["run", "--sam", "x", "sh"], "'--sample'")]
        {
            let clap = Cli::try_parse_from(["mallacc"].iter().chain(words)).unwrap_err();
            assert!(clap.to_string().contains(far), "{clap}");
            assert!(!error(words).contains(far), "{}", error(words));
        }
    }
}
