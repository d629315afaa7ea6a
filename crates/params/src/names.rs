//! Names that are not valid: the error lists the valid ones and suggests one only if it is near.

use crate::ConfigError;

/// Edits that a suggestion may be away: a third of the longer name.
const LETTERS_PER_EDIT: usize = 3;

/// The name among `valid` that was probably meant: the fewest edits away (insertions, deletions,
/// substitutions, transpositions; case does not count), and at most one for every three letters of
/// the longer name. `None` if no name is that near.
pub fn near<'a>(name: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let edits = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        let longer = name.chars().count().max(candidate.chars().count());
        let edits = strsim::damerau_levenshtein(&name, &candidate);
        (edits * LETTERS_PER_EDIT <= longer).then_some(edits)
    };
    let known = valid.into_iter().filter_map(|candidate| Some((edits(candidate)?, candidate)));
    known.min_by_key(|(edits, _)| *edits).map(|(_, candidate)| candidate)
}

/// The error for a name that is not valid: it lists the valid ones, and the one that was probably
/// meant.
///
/// `shown` is the name as it appears in the message (a key with its section, for example).
pub fn unknown_name(what: &str, shown: &str, name: &str, valid: &[&str]) -> ConfigError {
    let meant = near(name, valid.iter().copied());
    let meant = meant.map_or(String::new(), |near| format!(" Did you mean {near:?}?"));
    let all = valid.join(", ");
    ConfigError(format!("{what} {shown:?}: unknown.{meant} The valid ones are: {all}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_is_counted_in_edits() {
        // Three edits (k to s, e to i, an added g) against two (k to m, an added s).
        assert_eq!(near("kitten", ["sitting", "mittens"]), Some("mittens"));
        assert_eq!(near("haswel", ["golden-cove", "haswell"]), Some("haswell"));
        // Swapped letters are one edit, and one of four letters is a third at most.
        assert_eq!(near("gasu", ["gauss", "gaus"]), Some("gaus"));
        assert_eq!(near("HASWELL", ["haswell"]), Some("haswell"));
    }

    #[test]
    fn a_name_that_is_not_near_is_not_suggested() {
        // Seven letters allow two edits, six as well, three one.
        for (name, valid) in
            [("skylake", "haswell"), ("nosuch", "gauss"), ("abc", "axy"), ("", "tp"), ("x", "y")]
        {
            assert_eq!(near(name, [valid]), None, "{name}");
        }
        assert_eq!(
            unknown_name("machine", "skylake", "skylake", &["haswell", "goldencove"]).0,
            "machine \"skylake\": unknown. The valid ones are: haswell, goldencove"
        );
        assert_eq!(
            unknown_name("machine", "haswel", "haswel", &["haswell", "goldencove"]).0,
            "machine \"haswel\": unknown. Did you mean \"haswell\"? The valid ones are: haswell, \
             goldencove"
        );
    }
}
