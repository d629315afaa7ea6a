//! Checks the markers of an allocator, in a program that runs or in a recording.

use std::fmt::Write as _;
use std::path::Path;

use documents::csv::Csv;
use documents::json::pretty;
use documents::text::wrap;
use markers::{Checker, Counts, Kind, Report, Spot};
use results::text::number::{count, counted};
use serde_json::{Value, json};
use stream::{CallKind, Objects, Packet, Source, StreamError};
use symbols::{Names, Place};

use crate::error::{Ending, Failure};
use crate::input;
use crate::monitor::Monitor;
use crate::record::Parameters;
use crate::run;
use crate::target::Target;

/// Findings that the text lists; the other formats have all.
const LISTED: usize = 20;

/// A finding with its places.
#[derive(Clone, Debug)]
pub struct Found {
    /// The rule that is broken.
    pub kind: Kind,
    /// Where in the code.
    pub at: Place,
    /// Where it was noticed, or where the call began, if that is elsewhere.
    pub other: Option<Place>,
    /// How often.
    pub count: u64,
}

/// The outcome of a check.
pub struct Checked {
    /// The program.
    pub program: String,
    /// What was counted.
    pub counts: Counts,
    /// What is wrong.
    pub findings: Vec<Found>,
    /// Why no allocator call was seen, a clause, if that is known.
    pub unmarked: Option<String>,
    /// The stream broke off here.
    pub error: Option<StreamError>,
    /// How the program ended; a recording has ended well.
    pub ending: Ending,
}

/// Checks a recording; with `truncated`, one that was cut short is read as far as it goes.
pub fn recording(path: &Path, truncated: bool, monitor: &dyn Monitor) -> Result<Checked, Failure> {
    let mut source = input::recording(path)?.allow_truncated(truncated);
    let header = source.header().clone();
    let (follower, error) = Follower::follow(&mut source, &header.program, monitor);
    if let Some(cut) = source.truncated() {
        monitor.warning(&format!("{cut}; checked up to there"));
    }
    let ending = match monitor.signal() {
        Some(signal) => Ending::Interrupted(signal),
        None => Ending::Program(Some(results::Exit::Code(0))),
    };
    let unmarked = Parameters::from_text(&header.parameters).own_allocator;
    Ok(follower.checked(header.program, unmarked, error, ending))
}

/// Runs a program and checks it.
pub fn program(mut target: Target, monitor: &dyn Monitor) -> Result<Checked, Failure> {
    let prepared = target.prepare()?;
    let unmarked = prepared.own_allocator().map(|own| own.clause().to_owned());
    let name = target.name.to_string_lossy().into_owned();
    let (mut launched, companion) = target.start(prepared, monitor)?;
    let mut source = launched.source().ok_or_else(|| Failure::failed("the stream is taken"))?;
    let (follower, error) = Follower::follow(&mut source, &name, monitor);
    drop(source);
    if error.is_some() {
        launched.detach();
    }
    let ending = run::until_its_end(launched, companion, monitor)?;
    match error {
        Some(error) if follower.instructions == 0 => Err(Failure::from(error)),
        error => Ok(follower.checked(name, unmarked, error, ending)),
    }
}

/// A checker, and what names the places that it finds.
#[derive(Default)]
struct Follower {
    checker: Checker,
    objects: Objects,
    /// Event words read.
    instructions: u64,
}

impl Follower {
    /// Follows a stream to its end, or until the user stops it.
    fn follow(
        source: &mut dyn Source,
        program: &str,
        monitor: &dyn Monitor,
    ) -> (Self, Option<StreamError>) {
        let (mut follower, mut packet) = (Self::default(), Packet::default());
        let mut progress = monitor.progress(program);
        let stop = monitor.stop();
        while !stop.load(std::sync::atomic::Ordering::Relaxed) {
            match source.next(&mut packet) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return (follower, Some(error)),
            }
            follower.objects.learn(&packet);
            follower.checker.packet(&packet);
            follower.instructions += packet.events.len() as u64;
            progress.reached(follower.instructions, "events");
        }
        (follower, None)
    }

    fn checked(
        self,
        program: String,
        unmarked: Option<String>,
        error: Option<StreamError>,
        ending: Ending,
    ) -> Checked {
        let Report { counts, findings } = self.checker.report();
        let mut names = Names::default();
        let mut place = |spot: Spot| {
            let (addr, code) = self.checker.code(spot).unwrap_or_default();
            names.place(self.objects.of(spot.block, addr), addr, code)
        };
        let mut all: Vec<Found> = Vec::new();
        for finding in findings {
            let (at, other) = (place(finding.at), finding.other.map(&mut place));
            // Blocks overlap: the same instruction may belong to several.
            match all.iter_mut().find(|known| known.kind == finding.kind && known.at == at) {
                Some(known) => known.count += finding.count,
                None => all.push(Found { kind: finding.kind, at, other, count: finding.count }),
            }
        }
        all.sort_by_key(|found| (found.kind, std::cmp::Reverse(found.count)));
        Checked { program, counts, findings: all, unmarked, error, ending }
    }
}

impl Checked {
    /// Whether every rule was kept, and there was something to check.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.counts.all_begun() > 0
    }

    /// What was found, in a sentence.
    fn verdict(&self) -> String {
        if self.counts.all_begun() == 0 && self.findings.is_empty() {
            let why = match &self.unmarked {
                Some(clause) => format!(": {clause}"),
                None => String::new(),
            };
            return format!(
                "{}: nothing could be checked, because no marked allocator call was made{why}.",
                self.program
            );
        }
        let calls = counted(self.counts.all_begun(), "allocator call", "allocator calls");
        match self.findings.len() as u64 {
            0 => format!("{}: the markers of {calls} follow all rules.", self.program),
            places => format!(
                "{}: the markers break rules at {}, in {calls}.",
                self.program,
                counted(places, "place in the code", "places in the code")
            ),
        }
    }

    /// For people, wrapped to a width.
    pub fn text(&self, width: usize) -> String {
        let mut text = wrap(&self.verdict(), width, "") + "\n";
        for found in self.findings.iter().take(LISTED) {
            let times = match found.count {
                1 => "once".to_owned(),
                times => format!("{} times", count(times)),
            };
            let _ = write!(text, "\n{} ({}), {times}\n", found.at, found.at.position());
            if let Some(other) = &found.other {
                let relation = relation(found.kind);
                let _ = writeln!(text, "  {relation} {other} ({})", other.position());
            }
            for line in [found.kind.what().to_owned(), format!("Remedy: {}", found.kind.remedy())] {
                let _ = writeln!(text, "  {}", wrap(&line, width.saturating_sub(2), "  "));
            }
        }
        if let Some(more) = self.findings.len().checked_sub(LISTED).filter(|more| *more > 0) {
            let _ = write!(text, "\n… and {more} more; --format json lists all.\n");
        }
        let counts = self.extent();
        let _ = write!(text, "\n{}\n", wrap(&counts, width, ""));
        text
    }

    /// What the check covered.
    fn extent(&self) -> String {
        let Counts { ended, lookups, pops, pushes, invalidations, compared, blocks, .. } =
            self.counts;
        let mut text = format!(
            "Checked: {} begun, {} ended as they should; {}, {}, {}, {}; {} compared with the list \
             before them, {} with those that the program held.",
            counted(self.counts.all_begun(), "call", "calls"),
            count(ended),
            counted(lookups, "lookup", "lookups"),
            counted(pops, "pop", "pops"),
            counted(pushes, "push", "pushes"),
            counted(invalidations, "invalidation", "invalidations"),
            counted(compared, "pop", "pops"),
            counted(blocks, "block", "blocks")
        );
        if self.counts.threads {
            text += " Blocks were compared until a second thread ran.";
        }
        text
    }

    /// Everything.
    pub fn json(&self) -> String {
        let kinds = CallKind::ALL.into_iter().zip(self.counts.begun);
        let begun: serde_json::Map<String, Value> =
            kinds.map(|(kind, calls)| (kind.name().to_owned(), json!(calls))).collect();
        let findings: Vec<Value> = self.findings.iter().map(finding_json).collect();
        pretty(&json!({
            "program": self.program,
            "clean": self.is_clean(),
            "unmarked": self.unmarked.as_ref().filter(|_| self.counts.all_begun() == 0),
            "calls_begun": begun,
            "calls_ended": self.counts.ended,
            "lookups": self.counts.lookups,
            "pops": self.counts.pops,
            "pushes": self.counts.pushes,
            "invalidations": self.counts.invalidations,
            "pops_compared": self.counts.compared,
            "blocks_compared": self.counts.blocks,
            "several_threads": self.counts.threads,
            "findings": findings,
        }))
    }

    /// One line per finding.
    pub fn csv(&self) -> String {
        let mut csv = Csv::new([
            "rule",
            "count",
            "function",
            "object",
            "address",
            "other_function",
            "other_object",
            "other_address",
            "what",
            "remedy",
        ]);
        for found in &self.findings {
            let place = |place: Option<&Place>| match place {
                None => [String::new(), String::new(), String::new()],
                Some(place) => [
                    place.function.clone().unwrap_or_default(),
                    place.object.clone().unwrap_or_default(),
                    format!("{:#x}", place.address),
                ],
            };
            let head = [found.kind.name().to_owned(), found.count.to_string()];
            let tail = [found.kind.what().to_owned(), found.kind.remedy().to_owned()];
            let (at, other) = (place(Some(&found.at)), place(found.other.as_ref()));
            csv.line(head.into_iter().chain(at).chain(other).chain(tail));
        }
        csv.text()
    }
}

fn finding_json(found: &Found) -> Value {
    let place = |place: &Place| {
        json!({
            "function": place.function,
            "object": place.object,
            "address": format!("{:#x}", place.address),
        })
    };
    json!({
        "rule": found.kind.name(),
        "count": found.count,
        "at": place(&found.at),
        "other": found.other.as_ref().map(place),
        "what": found.kind.what(),
        "remedy": found.kind.remedy(),
    })
}

/// What the second place of a finding is to the first.
fn relation(kind: Kind) -> &'static str {
    match kind {
        Kind::EndMissing | Kind::EndTooEarly => "in the call that began at",
        Kind::BeginTwice => "in the call that began at",
        Kind::LookupOpen | Kind::SampleOpen | Kind::PopOpen => "left before",
        Kind::UpdateSize => "closes the region opened at",
        Kind::HandedOutTwice | Kind::Overlap => "handed out before at",
        Kind::FreeOfUnknown => "freed through",
        _ => "noticed at",
    }
}
