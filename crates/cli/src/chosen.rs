//! Which stored runs a command line names.

use experiments::{Failure, near};
use results::store::Store;

use crate::args::Selector;

/// The runs that are named, each once, in the order of the command line. A missing number is left
/// for the store to report; of a range, those that exist are taken.
pub fn many(store: &Store, selectors: &[Selector]) -> Result<Vec<i64>, Failure> {
    let there = store.ids()?;
    let mut ids: Vec<i64> = Vec::new();
    for selector in selectors {
        ids.extend(match selector {
            Selector::Label(label) => labelled(store, label)?,
            Selector::Numbers(range) => {
                let (first, last) = (*range.start(), *range.end());
                let found: Vec<i64> =
                    there.iter().copied().filter(|id| range.contains(id)).collect();
                match (found.is_empty(), first == last) {
                    (true, true) => vec![first],
                    (true, false) => {
                        return Err(Failure::failed(format!(
                            "runs {first}..{last}: none of them is in the store; `mallacc list` \
                             shows what is"
                        )));
                    }
                    (false, _) => found,
                }
            }
        });
    }
    let mut seen = std::collections::BTreeSet::new();
    ids.retain(|id| seen.insert(*id));
    Ok(ids)
}

/// The one run that is named.
pub fn one(store: &Store, selector: &Selector) -> Result<i64, Failure> {
    match (many(store, std::slice::from_ref(selector))?.as_slice(), selector) {
        ([id], _) => Ok(*id),
        (several, Selector::Label(label)) => {
            let numbers: Vec<String> = several.iter().map(ToString::to_string).collect();
            Err(Failure::usage(format!(
                "label {label:?}: several runs have it ({}); name one by its number",
                numbers.join(", ")
            )))
        }
        (_, Selector::Numbers(range)) => Err(Failure::usage(format!(
            "{}..{}: must be one run; name it by its number",
            range.start(),
            range.end()
        ))),
    }
}

/// The runs with a label, of which there must be one.
pub fn labelled(store: &Store, label: &str) -> Result<Vec<i64>, Failure> {
    let ids = store.labelled(label)?;
    if !ids.is_empty() {
        return Ok(ids);
    }
    let labels = store.labels()?;
    let meant = near(label, labels.iter().map(|(_, label)| label.as_str()));
    let meant = meant.map_or(String::new(), |near| format!(" Did you mean {near:?}?"));
    Err(Failure::usage(format!(
        "label {label:?}: no run has it.{meant} `mallacc list` shows the labels"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::Run;
    use std::path::Path;

    fn store(labels: &[Option<&str>]) -> Store {
        let mut store = Store::open(Path::new(":memory:")).unwrap();
        for label in labels {
            let label = label.map(str::to_owned);
            store.save(&Run { label, ..Run::default() }).unwrap();
        }
        store
    }

    fn selectors(texts: &[&str]) -> Vec<Selector> {
        texts.iter().map(|text| Selector::parse(text).unwrap()).collect()
    }

    #[test]
    fn each_run_comes_once_in_the_order_asked_for() {
        let mut store = store(&[None, Some("a"), Some("b"), Some("a"), None]);
        store.remove(&[3]).unwrap();
        let many = |texts: &[&str]| many(&store, &selectors(texts));
        assert_eq!(many(&["5", "2..4", "a"]).unwrap(), [5, 2, 4]);
        // The store reports that there is no run 3, and which there are.
        assert_eq!(many(&["3"]).unwrap(), [3]);
        assert!(many(&["10..20"]).unwrap_err().text.contains("10..20"));
        assert!(many(&["b"]).unwrap_err().text.contains("no run has it. `mallacc list`"));
        assert!(many(&["A"]).unwrap_err().text.contains("Did you mean \"a\"?"));
    }

    #[test]
    fn one_run_is_a_number_or_a_label_of_its_own() {
        let store = store(&[Some("a"), Some("b"), Some("b")]);
        let one = |text: &str| one(&store, &Selector::parse(text).unwrap());
        assert_eq!((one("3").unwrap(), one("a").unwrap()), (3, 1));
        assert!(one("b").unwrap_err().text.contains("several runs have it (2, 3)"));
        assert!(one("1..2").unwrap_err().text.contains("must be one run"));
    }
}
