//! The predictions that writer and reader share. Only what differs from its prediction takes up
//! space.
//!
//! The model predicts three things: the block that followed the same blocks before comes next; a
//! block's accesses come from the same instructions as the last time; and an instruction accesses
//! the same address as the last time, or continues its stride.

/// Elements of a block that are predicted individually.
const SITES_MAX: usize = 64;
/// Entries of the table that maps the last blocks to their successor.
const PATHS: usize = 1 << 16;

/// The prediction for one element (a memory access or a marker value) of a block.
#[derive(Clone, Copy, Default)]
pub struct Site {
    /// The element's upper 16 bits: kind, instruction, size.
    pub head: u16,
    last: u64,
    step: i64,
    stride: i64,
}

impl Site {
    /// The predicted payload: an address or a value.
    #[inline(always)]
    pub fn expected(&self) -> u64 {
        self.last.wrapping_add(self.stride as u64)
    }

    /// Learns the true payload. A stride is predicted once the same step has been seen twice in a
    /// row.
    #[inline(always)]
    pub fn learn(&mut self, payload: u64) {
        let step = payload.wrapping_sub(self.last) as i64;
        if step == self.step {
            self.stride = step;
        } else {
            self.step = step;
            if self.stride != 0 {
                self.stride = 0;
            }
        }
        self.last = payload;
    }
}

/// What the model has learned about a block.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Index of its first site.
    first: u32,
    /// Number of sites reserved.
    room: u16,
    /// Number of elements the last time.
    count: u32,
    /// The block that followed it the last time.
    next: u32,
}

/// The predictor.
pub struct Model {
    known: Vec<Known>,
    sites: Vec<Site>,
    paths: Vec<u32>,
    path: usize,
    before: u32,
}

impl Model {
    /// A model that has learned nothing yet.
    pub fn new() -> Self {
        Self { known: Vec::new(), sites: Vec::new(), paths: vec![0; PATHS], path: 0, before: 0 }
    }

    /// Adds a newly defined block.
    pub fn define(&mut self) {
        self.known.push(Known::default());
    }

    /// Number of blocks defined.
    pub fn blocks(&self) -> usize {
        self.known.len()
    }

    /// The block predicted from the last four.
    #[inline(always)]
    pub fn by_path(&self) -> u32 {
        self.paths[self.path]
    }

    /// The block predicted from the last one.
    #[inline(always)]
    pub fn by_last(&self) -> u32 {
        self.known.get(self.before as usize).map_or(0, |k| k.next)
    }

    /// Learns which block was entered; `id` is a defined block.
    #[inline(always)]
    pub fn enter(&mut self, id: u32) {
        self.paths[self.path] = id;
        if let Some(known) = self.known.get_mut(self.before as usize) {
            known.next = id;
        }
        self.before = id;
        // A multiplicative hash of the number. The shift drops all but the last four blocks.
        let hash = id.wrapping_mul(0x9e37_79b1) >> 16;
        self.path = ((self.path << 4) ^ hash as usize) % PATHS;
    }

    /// The elements of a block the last time, as far as they are remembered, and how many there
    /// were.
    #[inline(always)]
    pub fn sites(&mut self, id: u32) -> (&mut [Site], usize) {
        let known = self.known[id as usize];
        let count = (known.count as usize).min(usize::from(known.room));
        let first = known.first as usize;
        (&mut self.sites[first..first + count], known.count as usize)
    }

    /// Reserves sites for `count` elements; the caller sets their heads.
    pub fn reshape(&mut self, id: u32, count: usize) -> &mut [Site] {
        let kept = count.min(SITES_MAX);
        let known = &mut self.known[id as usize];
        if kept > usize::from(known.room) {
            let (old, room) = (known.first as usize, kept.next_power_of_two());
            let had = usize::from(known.room);
            known.first = self.sites.len() as u32;
            known.room = room as u16;
            let first = self.sites.len();
            self.sites.resize(first + room, Site::default());
            self.sites.copy_within(old..old + had, first);
        }
        known.count = count as u32;
        let first = known.first as usize;
        &mut self.sites[first..first + kept]
    }
}

/// The prediction for an element beyond those remembered: a repeated string instruction continues
/// in even steps, alternating between load and store. `done` holds the payloads so far.
#[inline(always)]
pub fn expected_beyond(done: &[u64]) -> u64 {
    match done {
        [.., a, _, b, _] => b.wrapping_add(b.wrapping_sub(*a)),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_expects_the_last_address_and_then_an_even_step() {
        let mut site = Site::default();
        site.learn(1000);
        assert_eq!(site.expected(), 1000);
        site.learn(1008);
        assert_eq!(site.expected(), 1008, "one step is not yet a stride");
        site.learn(1016);
        assert_eq!(site.expected(), 1024);
        site.learn(5);
        assert_eq!(site.expected(), 5);
    }

    #[test]
    fn successors_are_expected_by_path_and_by_last_block() {
        let mut model = Model::new();
        (0..4).for_each(|_| model.define());
        // After 0, block 1 is followed by 2; after 2, it is followed by 3.
        for _ in 0..4 {
            [0, 1, 2, 1, 3].iter().for_each(|&id| model.enter(id));
        }
        for (id, next) in [(0, 1), (1, 2), (2, 1), (1, 3)] {
            model.enter(id);
            assert_eq!(model.by_path(), next);
        }
        assert_eq!(model.by_last(), 2, "what followed 1 the last time");
    }

    #[test]
    fn room_grows_and_keeps_what_was_learnt() {
        let mut model = Model::new();
        model.define();
        model.reshape(0, 3)[2].learn(77);
        assert_eq!(model.reshape(0, 40)[2].expected(), 77);
        assert_eq!(model.reshape(0, 1000).len(), SITES_MAX);
        let (sites, count) = model.sites(0);
        assert_eq!((sites.len(), count, sites[2].expected()), (SITES_MAX, 1000, 77));
    }
}
