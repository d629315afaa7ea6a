//! A shadow of each free list: what its marked pops and pushes leave on it.
//!
//! Like the malloc cache, the shadow forgets a list at `INVALIDATE`, and all of them at `FLUSH` and
//! when another thread runs. Unlike it, it has room for everything. A pop that finds something else
//! means that the list was changed in between without markers.
//!
//! To say where, the shadow learns where each list's head is: a pop region loads it before it loads
//! the link from the object. A store to that word that belongs to no marked pop or push is the one
//! to blame when a later pop disagrees.

use std::collections::{HashMap, HashSet};

use crate::code::Spot;
use crate::finding::{Findings, Kind};

/// What is known of a list.
#[derive(Default)]
struct List {
    /// Objects from the top down to where knowledge ends; the top is the last.
    known: Vec<u64>,
    /// Nothing lies below these.
    whole: bool,
    /// Where its head is.
    head: Option<u64>,
    /// Stores to the head that marked operations have announced.
    announced: u32,
    /// The last store to the head that none has.
    suspect: Option<Spot>,
}

/// Bits of an address that select a bit of the filter.
const FILTER_BITS: u32 = 12;

/// All lists, by class.
pub struct Lists {
    lists: HashMap<u64, List>,
    /// Objects on lists.
    listed: HashSet<u64>,
    /// Class of the list whose head is at an address.
    heads: HashMap<u64, u64>,
    /// Whether an address with these bits may be that of a head: most stores are not.
    filter: Vec<bool>,
    /// Pops whose object was compared.
    pub compared: u64,
}

impl Default for Lists {
    fn default() -> Self {
        Self {
            lists: HashMap::new(),
            listed: HashSet::new(),
            heads: HashMap::new(),
            filter: vec![false; 1 << FILTER_BITS],
            compared: 0,
        }
    }
}

/// What a pop region loaded, in order: addresses of words.
pub type Loads = Vec<u64>;

impl Lists {
    /// A store; cheap unless it is to the head of a list.
    #[inline]
    pub fn store(&mut self, addr: u64, at: Spot) {
        if self.filter[bits(addr)] {
            self.store_to_head(addr, at);
        }
    }

    fn store_to_head(&mut self, addr: u64, at: Spot) {
        let class = self.heads.get(&addr);
        let Some(list) = class.and_then(|class| self.lists.get_mut(class)) else { return };
        match list.announced {
            0 => list.suspect = Some(at),
            _ => list.announced -= 1,
        }
    }

    /// A pop took `head` and left `next` on top.
    pub fn pop(
        &mut self,
        class: u64,
        [head, next]: [u64; 2],
        loads: &Loads,
        at: Spot,
        findings: &mut Findings,
    ) {
        if head == 0 {
            findings.add(Kind::NullObject, at, None);
            return self.invalidate(class);
        }
        let list = self.lists.entry(class).or_default();
        let suspect = list.suspect.take();
        let mut blame = |kind| {
            findings.add(kind, suspect.unwrap_or(at), Some(at));
        };
        let mut agrees = true;
        if let Some(top) = list.known.last().copied() {
            self.compared += 1;
            let below = list.known.len().checked_sub(2).map(|below| list.known[below]);
            let expected = below.or(list.whole.then_some(0));
            agrees = top == head && expected.is_none_or(|expected| expected == next);
            if top != head {
                blame(difference(&list.known, head, next));
            } else if !agrees {
                blame(Kind::LinkChanged);
            }
        } else if list.whole {
            self.compared += 1;
            agrees = false;
            blame(Kind::UnmarkedPush);
        }
        if agrees {
            list.known.pop();
        } else {
            for object in list.known.drain(..) {
                self.listed.remove(&object);
            }
            list.whole = false;
        }
        self.listed.remove(&head);
        if list.known.is_empty() {
            if next == 0 {
                list.whole = true;
            } else {
                list.known.push(next);
                self.listed.insert(next);
            }
        }
        list.announced = 1;
        // The last word that was loaded before the object's own.
        let before = loads.iter().position(|addr| *addr == head).unwrap_or(loads.len());
        self.learn_head(class, before.checked_sub(1).map(|last| loads[last]));
    }

    /// A pop region found its list empty and declared it unknown.
    pub fn found_empty(&mut self, class: u64, at: Spot, findings: &mut Findings) {
        if let Some(list) = self.lists.get_mut(&class)
            && !list.known.is_empty()
        {
            self.compared += 1;
            findings.add(Kind::UnmarkedPop, list.suspect.unwrap_or(at), Some(at));
        }
    }

    /// `object` is about to be pushed.
    pub fn push(&mut self, class: u64, object: u64, at: Spot, findings: &mut Findings) {
        if object == 0 {
            findings.add(Kind::NullObject, at, None);
            return;
        }
        let list = self.lists.entry(class).or_default();
        if self.listed.insert(object) {
            list.known.push(object);
        } else {
            findings.add(Kind::PushedTwice, at, None);
            return self.invalidate(class);
        }
        list.announced = 1;
    }

    /// A prefetch after a pop: `word` is the link of `next`, the object on top.
    pub fn prefetch(
        &mut self,
        class: u64,
        next: u64,
        word: u64,
        at: Spot,
        findings: &mut Findings,
    ) {
        let Some(list) = self.lists.get_mut(&class) else { return };
        if next == 0 || list.known.last() != Some(&next) {
            return;
        }
        match list.known.len() {
            1 if !list.whole && word == 0 => list.whole = true,
            1 if !list.whole => {
                if self.listed.insert(word) {
                    list.known.insert(0, word);
                }
            }
            length => {
                let expected = length.checked_sub(2).map_or(0, |below| list.known[below]);
                if expected != word {
                    findings.add(Kind::LinkChanged, list.suspect.unwrap_or(at), Some(at));
                    self.invalidate(class);
                }
            }
        }
    }

    /// A list is declared unknown.
    pub fn invalidate(&mut self, class: u64) {
        if let Some(list) = self.lists.get_mut(&class) {
            for object in list.known.drain(..) {
                self.listed.remove(&object);
            }
            (list.whole, list.suspect) = (false, None);
        }
    }

    /// All lists are declared unknown.
    pub fn flush(&mut self) {
        for list in self.lists.values_mut() {
            list.known.clear();
            (list.whole, list.suspect, list.announced) = (false, None, 0);
        }
        self.listed.clear();
    }

    /// A new image begins.
    pub fn clear(&mut self) {
        *self = Self { compared: self.compared, ..Self::default() };
    }

    fn learn_head(&mut self, class: u64, head: Option<u64>) {
        let Some(list) = self.lists.get_mut(&class) else { return };
        if head.is_none() || list.head == head {
            return;
        }
        let Some(head) = head else { return };
        if let Some(old) = list.head.replace(head) {
            self.heads.remove(&old);
        }
        self.heads.insert(head, class);
        self.filter[bits(head)] = true;
    }
}

/// Words of a cache line and pages spread over the filter.
#[inline]
fn bits(addr: u64) -> usize {
    ((addr >> 3) & ((1 << FILTER_BITS) - 1)) as usize
}

/// What happened to a list if a pop found `head`, with `next` below it.
fn difference(known: &[u64], head: u64, next: u64) -> Kind {
    if known.contains(&head) {
        Kind::UnmarkedPop
    } else if known.contains(&next) {
        Kind::UnmarkedPush
    } else {
        Kind::ListChanged
    }
}
