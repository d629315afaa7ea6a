//! The programs that are measured, and the paper's counterpart of each.

/// The kind of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A microbenchmark of the allocator.
    Micro,
    /// A whole program.
    Program,
}

/// A program that is measured.
#[derive(Debug, PartialEq, Eq)]
pub struct Subject {
    /// The name: of the microbenchmark or of the workload file.
    pub name: &'static str,
    /// The name of its counterpart in the paper, if it has one.
    pub paper: Option<&'static str>,
    /// Its kind.
    pub kind: Kind,
}

const fn micro(name: &'static str) -> Subject {
    Subject { name, paper: Some(name), kind: Kind::Micro }
}

const fn program(name: &'static str, paper: Option<&'static str>) -> Subject {
    Subject { name, paper, kind: Kind::Program }
}

/// All programs. Of the paper's, 465.tonto and the fourth program of SPEC CPU2006 that calls malloc
/// require a licence and have no counterpart here.
pub const SUBJECTS: &[Subject] = &[
    micro("antagonist"),
    micro("gauss"),
    micro("gauss_free"),
    micro("sized_deletes"),
    micro("tp"),
    micro("tp_small"),
    program("perl", Some("400.perlbench")),
    program("xalan", Some("483.xalancbmk")),
    program("kv-never-frees", Some("masstree.wcol1")),
    program("kv-frees", Some("masstree.same")),
    program("xapian-abstracts", Some("xapian.abstracts")),
    program("xapian-pages", Some("xapian.pages")),
    program("python3", None),
    program("sqlite3", None),
    program("redis", None),
];

impl Subject {
    /// The program with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        SUBJECTS.iter().find(|subject| subject.name == name)
    }
}
