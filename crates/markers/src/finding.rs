//! What can be wrong, and what was found.

use std::collections::HashMap;

use stream::CallKind;

use crate::code::Spot;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal, $what:literal, $remedy:literal;)*) => {
        /// A rule that was broken.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// All kinds, in the order of reports.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Its name in documents.
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// What is wrong, a sentence.
            pub fn what(self) -> &'static str {
                match self { $(Self::$kind => $what,)* }
            }

            /// What to do, a sentence.
            pub fn remedy(self) -> &'static str {
                match self { $(Self::$kind => $remedy,)* }
            }
        }
    };
}

kinds! {
    /// Carriers without their operand stores.
    OperandsMissing = "operands_missing",
        "A marker lacks its operand stores and is ignored.",
        "Emit each marker with a macro of mallacc.h, which uses one asm statement.";
    /// A marker on two pages.
    CrossesPage = "crosses_page",
        "A marker crosses a page boundary, where emulators end a block.",
        "Emit each marker with a macro of mallacc.h, which adds padding in front.";
    /// A return without `CALL_END`.
    EndMissing = "end_missing",
        "The call returns without CALL_END, so its end is not seen, nor are the calls after it.",
        "Add MALLACC_CALL_END(result) before this return.";
    /// `CALL_END` outside of a call.
    EndWithoutBegin = "end_without_begin",
        "CALL_END executes where no call has begun.",
        "Begin the entry point with MALLACC_CALL_BEGIN(kind, argument).";
    /// The return after `CALL_END` is not that of the entry point.
    EndTooEarly = "end_too_early",
        "The next return after CALL_END is not that of the entry point, so the call ends too early.",
        "Move MALLACC_CALL_END(result) after the last call that the entry point makes.";
    /// Two `CALL_BEGIN` in one call.
    BeginTwice = "begin_twice",
        "A second CALL_BEGIN executes in the same call, which ends only once.",
        "Call the other entry point; do not jump into it or inline it.";
    /// `LOOKUP` without `UPDATE`.
    LookupOpen = "lookup_open",
        "LOOKUP is not followed by UPDATE: after a miss, the malloc cache never learns the class.",
        "Add MALLACC_UPDATE(size, alloc_size, class) where the class has been computed.";
    /// `UPDATE` without `LOOKUP`.
    UpdateAlone = "update_alone",
        "UPDATE executes without a LOOKUP before it.",
        "Open the size-class computation with MALLACC_LOOKUP(size).";
    /// `UPDATE` for a different size from `LOOKUP`.
    UpdateSize = "update_size",
        "UPDATE has a different size from its LOOKUP.",
        "Pass the requested size, before rounding, to both.";
    /// `UPDATE` says that too little is handed out.
    SizeTooSmall = "size_too_small",
        "The alloc_size of UPDATE is smaller than the requested size.",
        "Pass the bytes that the class hands out as alloc_size.";
    /// A class with two sizes, or a size with two classes.
    ClassAmbiguous = "class_ambiguous",
        "UPDATE contradicts an earlier one: a class has one alloc_size, and a size has one class.",
        "Compute the class from the requested size alone.";
    /// A class beyond 8 bits.
    ClassTooLarge = "class_too_large",
        "A size class is above 255, which does not fit the malloc cache's 8 bits.",
        "Number the classes from 0 to 255.";
    /// `SAMPLE` without `SAMPLE_END`.
    SampleOpen = "sample_open",
        "SAMPLE is not followed by SAMPLE_END, so more than the check is left out of the timing.",
        "Add MALLACC_SAMPLE_END(counter) on both sides of the check's branch.";
    /// `SAMPLE_END` without `SAMPLE`.
    SampleEndAlone = "sample_end_alone",
        "SAMPLE_END executes without a SAMPLE before it.",
        "Open the sampling check with MALLACC_SAMPLE(size, anchor).";
    /// `POP` without `POP_END` and without `INVALIDATE`.
    PopOpen = "pop_open",
        "A pop region is left without POP_END and without INVALIDATE.",
        "Add MALLACC_INVALIDATE(class) at the target of the branch for the empty list.";
    /// `POP_END` without `POP`.
    PopEndAlone = "pop_end_alone",
        "POP_END executes without a POP before it.",
        "Open the pop with MALLACC_POP(class, list).";
    /// `POP_END` or `PUSH` of a null pointer.
    NullObject = "null_object",
        "A null pointer is popped or pushed.",
        "Test for the empty list inside the pop region; do not push null pointers.";
    /// An object is pushed that is on a list already.
    PushedTwice = "pushed_twice",
        "An object is pushed although it is already on a list.",
        "Look for a double free in the program, or for a pop without markers.";
    /// `PREFETCH` with other values than `POP_END`.
    PrefetchMismatch = "prefetch_mismatch",
        "The operands of PREFETCH differ from the values of the preceding pop.",
        "Pass the class, head and next of the preceding MALLACC_POP_END.";
    /// A push without markers.
    UnmarkedPush = "unmarked_push",
        "Objects were pushed onto a list without markers; a later pop finds them.",
        "Add MALLACC_PUSH(class, ptr), or MALLACC_INVALIDATE(class) before the list is used again.";
    /// A pop without markers.
    UnmarkedPop = "unmarked_pop",
        "Objects were popped from a list without markers; a later pop misses them.",
        "Mark the pop, or add MALLACC_INVALIDATE(class) before the list is used again.";
    /// Another change of a list.
    ListChanged = "list_changed",
        "A list was replaced without INVALIDATE or FLUSH; a later pop finds other objects.",
        "Add MALLACC_INVALIDATE(class) or MALLACC_FLUSH() before the list is used again.";
    /// The link of a listed object has changed.
    LinkChanged = "link_changed",
        "The link of an object on a list differs from what earlier pushes and pops left there.",
        "Keep plain pointers as links; look for list changes deeper down and for uses after free.";
    /// A block handed out while it is held.
    HandedOutTwice = "handed_out_twice",
        "A block is handed out again although it has not been freed.",
        "Fix the allocator, or mark the entry point that freed the block.";
    /// Two held blocks overlap.
    Overlap = "overlap",
        "Two blocks that the program holds overlap.",
        "Fix the allocator or, if only the sizes are wrong, the alloc_size of MALLACC_UPDATE.";
    /// A block at an odd address.
    Misaligned = "misaligned",
        "A block is misaligned: blocks of 16 bytes or more need 16-byte alignment, others 8.",
        "Pass MALLACC_CALL_END the pointer that the caller gets.";
    /// A free of what the program does not hold.
    FreeOfUnknown = "free_of_unknown",
        "A block is freed that no marked call handed out, or that is already free.",
        "Mark the entry point that handed it out; if it is marked, the program frees it twice.";
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Outermost calls begun, by kind.
    pub begun: [u64; CallKind::ALL.len()],
    /// Outermost calls that ended as they should.
    pub ended: u64,
    /// `LOOKUP` markers.
    pub lookups: u64,
    /// `POP` markers.
    pub pops: u64,
    /// `PUSH` markers.
    pub pushes: u64,
    /// `INVALIDATE` and `FLUSH` markers.
    pub invalidations: u64,
    /// Pops whose object was compared with the shadow of the list.
    pub compared: u64,
    /// Blocks handed out that were compared with those that the program holds.
    pub blocks: u64,
    /// A second thread ran: blocks were compared until then, because the order in which threads run
    /// is not known exactly.
    pub threads: bool,
}

impl Counts {
    /// Outermost calls begun.
    pub fn all_begun(&self) -> u64 {
        self.begun.iter().sum()
    }
}

/// A rule that was broken, at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub kind: Kind,
    /// Where in the code.
    pub at: Spot,
    /// Where it was noticed or began, if that is elsewhere.
    pub other: Option<Spot>,
    /// How often.
    pub count: u64,
}

/// The result of a check.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What was counted.
    pub counts: Counts,
    /// What is wrong, in the order of [`Kind::ALL`], the most frequent first.
    pub findings: Vec<Finding>,
}

/// Collects findings.
#[derive(Default)]
pub struct Findings(HashMap<(Kind, Spot), (Option<Spot>, u64)>);

impl Findings {
    /// Adds a finding.
    #[cold]
    pub fn add(&mut self, kind: Kind, at: Spot, other: Option<Spot>) {
        self.0.entry((kind, at)).or_insert((other, 0)).1 += 1;
    }

    /// How often any rule was broken.
    pub fn total(&self) -> u64 {
        self.0.values().map(|(_, count)| count).sum()
    }

    /// In the order of a report.
    pub fn sorted(&self) -> Vec<Finding> {
        let finding = |(&(kind, at), &(other, count)): (&(Kind, Spot), &(Option<Spot>, u64))| {
            Finding { kind, at, other: other.filter(|other| *other != at), count }
        };
        let mut all: Vec<Finding> = self.0.iter().map(finding).collect();
        all.sort_by_key(|found| (found.kind, std::cmp::Reverse(found.count), found.at));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_distinct_names_and_whole_sentences() {
        for (at, kind) in Kind::ALL.iter().enumerate() {
            assert!(Kind::ALL[..at].iter().all(|other| other.name() != kind.name()));
            for text in [kind.what(), kind.remedy()] {
                assert!(text.ends_with('.') && text.starts_with(char::is_uppercase), "{text}");
            }
        }
    }
}
