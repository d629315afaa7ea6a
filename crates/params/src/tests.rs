use super::*;

params! {
    /// Inner.
    pub struct Inner {
        /// Ways.
        assoc: u32 = 8, "", 1..=32;
    }
}
params! {
    /// Outer.
    pub struct Outer {
        /// Name.
        name: String = "x".into(), "";
        /// Inner section.
        inner: Inner = Inner::default(), "";
        /// Latencies.
        steps: Vec<u64> = vec![1, 2], "cycles";
        /// Factor.
        factor: f64 = 0.5, "";
        /// Switch.
        on: bool = true, "";
        /// Stages.
        stage: Vec<Stage> = vec![Stage::known("first").unwrap()], "";
    }
    moved {
        switch: "there are more of them now", "write on = true or false";
    }
}
params! {
    /// Stage.
    pub struct Stage {
        /// Its name.
        name: String = String::new(), "";
        /// How deep.
        depth: u32 = 1, "cm";
        /// How wide.
        width: u32 = 1, "cm";
    }
    known by name {
        /// The first stage.
        "first" {
            /// Its depth (a source).
            depth = 7;
        }
    }
}

#[test]
fn a_list_of_sections_is_read_strictly_and_known_elements_have_their_own_values() {
    let text = "[[stage]]\nname = \"first\"\nwidth = 2\n[[stage]]\nname = \"x\"";
    let outer = Outer::read(&parse(text).unwrap(), "").unwrap();
    let stage = |name: &str, depth, width| Stage { name: name.into(), depth, width };
    assert_eq!(outer.stage, [stage("first", 7, 2), stage("x", 1, 1)]);
    for (text, part) in [
        ("[[stage]]\n[[stage]]\ndepht = 3", "stage[1].depht"),
        ("[[stage]]\ndepth = -3", "stage[0].depth = -3: must be a whole number"),
        ("[stage]\ndepth = 3", "must be a list"),
        ("stage = [3]", "stage[0] = 3: must be a section"),
    ] {
        let error = Outer::read(&parse(text).unwrap(), "").unwrap_err().0;
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(Outer::read(&outer.write(), ""), Ok(outer));
}

#[test]
fn a_list_of_sections_is_documented_element_by_element() {
    let mut outer = Outer::default();
    outer.stage.push(Stage { name: "y".into(), ..Stage::default() });
    let text = documented(Outer::declared(), &outer.write());
    for part in [
        "# The first stage.\n[[stage]]\n# Its name.\nname = \"first\"\n\
         # Its depth (a source). [cm]\ndepth = 7\n# How wide. [cm]\n",
        "# Stages.\n[[stage]]\n# Its name.\nname = \"y\"\n# How deep. [cm]\ndepth = 1\n",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(Outer::read(&parse(&text).unwrap(), ""), Ok(outer.clone()));
    let all = described(Outer::declared(), &outer.write());
    let about = |key: &str| {
        let found = all.iter().find(|described| described.key == key).unwrap();
        (found.value.as_str(), found.unit, found.about.as_str())
    };
    assert_eq!(about("stage[0].depth"), ("7", "cm", "Its depth (a source)."));
    assert_eq!(about("stage[1].depth"), ("1", "cm", "How deep."));
}

#[test]
fn a_key_of_before_is_told_what_to_write_now() {
    let error = Outer::read(&parse("[switch]\na = 3").unwrap(), "x").unwrap_err().0;
    let told = "x.switch = { a = 3 }: there are more of them now; write on = true or false";
    assert_eq!(error, told);
}

#[test]
fn what_is_written_reads_back_the_same() {
    let mut outer = Outer { name: "y".into(), on: false, ..Outer::default() };
    outer.inner.assoc = 16;
    assert_eq!(Outer::read(&outer.write(), ""), Ok(outer));
}

#[test]
fn an_unknown_key_names_the_nearest_valid_one() {
    let value = parse("[inner]\nasoc = 4").unwrap();
    let error = Outer::read(&value, "").unwrap_err().0;
    assert!(error.contains("inner.asoc") && error.contains("\"assoc\""), "{error}");
}

#[test]
fn wrong_types_and_ranges_say_what_is_wanted() {
    for (text, part) in [
        ("on = 3", "on = 3: must be true or false"),
        ("inner = 3", "inner = 3: must be a section"),
        ("[inner]\nassoc = -1", "inner.assoc = -1: must be a whole number from 1 to 32; try 1"),
        ("[inner]\nassoc = 99", "inner.assoc = 99: must be a whole number from 1 to 32; try 32"),
        ("[inner]\nassoc = 2.6", "inner.assoc = 2.6: must be a whole number from 1 to 32; try 3"),
        ("[inner]\nassoc = true", "inner.assoc = true: must be a whole number from 1 to 32"),
        ("steps = [-1]", "steps[0] = -1: must be a whole number, 0 or more"),
        ("steps = [1, \"a\"]", "steps[1] = \"a\": must be a whole number"),
    ] {
        let error = Outer::read(&parse(text).unwrap(), "").unwrap_err().0;
        assert!(error.contains(part), "{error}");
    }
    assert!(parse("a = \n[").unwrap_err().0.starts_with("line 1: not valid TOML"));
}

#[test]
fn the_documentation_lists_nested_keys_with_their_defaults() {
    let all = described(Outer::declared(), &Outer::default().write());
    let (key, value) = ("inner.assoc".into(), "8".into());
    let expected = Described { key, value, unit: "", about: "Ways.".into() };
    assert!(all.contains(&expected), "{all:?}");
}

#[test]
fn a_documented_file_reads_back_the_same() {
    let text = documented(Outer::declared(), &Outer::default().write());
    assert!(text.contains("# Latencies. [cycles]\nsteps = [1, 2]\n"), "{text}");
    assert!(text.contains("# Inner section.\n[inner]\n# Ways.\nassoc = 8"), "{text}");
    assert_eq!(Outer::read(&parse(&text).unwrap(), ""), Ok(Outer::default()));
}
