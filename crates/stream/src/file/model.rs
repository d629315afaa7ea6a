//! What writer and reader both expect to come next. Only what is not as expected takes up room.
//!
//! Three habits of programs are used: after the same blocks the same block follows; a block
//! accesses memory with the same instructions as the last time; and an instruction accesses the
//! address it accessed last, or a constant distance on.

/// Elements of a block that are remembered each on their own.
const SITES_MAX: usize = 64;
/// Entries of the table of successors by the blocks before.
const PATHS: usize = 1 << 16;

/// What is expected of one element (a memory access or a marker value) of a block.
#[derive(Clone, Copy, Default)]
pub struct Site {
    /// The element's upper 16 bits: what it is, instruction, size.
    pub head: u16,
    last: u64,
    step: i64,
    stride: i64,
}

impl Site {
    /// The expected payload: an address or a value.
    #[inline(always)]
    pub fn expected(&self) -> u64 {
        self.last.wrapping_add(self.stride as u64)
    }

    /// Learns the true payload. A stride counts once it was seen twice in a row.
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

/// What is known of a block.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Where its sites are.
    first: u32,
    /// How many sites there is room for.
    room: u16,
    /// How many elements it had the last time.
    count: u32,
    /// The block that followed it.
    next: u32,
}

/// The expectations.
pub struct Model {
    known: Vec<Known>,
    sites: Vec<Site>,
    paths: Vec<u32>,
    path: usize,
    before: u32,
}

impl Model {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self { known: Vec::new(), sites: Vec::new(), paths: vec![0; PATHS], path: 0, before: 0 }
    }

    /// A block was defined.
    pub fn define(&mut self) {
        self.known.push(Known::default());
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.known.len()
    }

    /// The block that is expected after the last few.
    #[inline(always)]
    pub fn by_path(&self) -> u32 {
        self.paths[self.path]
    }

    /// The block that is expected after the last one.
    #[inline(always)]
    pub fn by_last(&self) -> u32 {
        self.known.get(self.before as usize).map_or(0, |k| k.next)
    }

    /// Learns which block came; `id` is a defined block.
    #[inline(always)]
    pub fn enter(&mut self, id: u32) {
        self.paths[self.path] = id;
        if let Some(known) = self.known.get_mut(self.before as usize) {
            known.next = id;
        }
        self.before = id;
        // A multiplicative hash of the number; the blocks before the last four leave at the top.
        let hash = id.wrapping_mul(0x9e37_79b1) >> 16;
        self.path = ((self.path << 4) ^ hash as usize) % PATHS;
    }

    /// The elements of a block as they were the last time, as far as they are remembered, and how
    /// many there were.
    #[inline(always)]
    pub fn sites(&mut self, id: u32) -> (&mut [Site], usize) {
        let known = self.known[id as usize];
        let count = (known.count as usize).min(usize::from(known.room));
        let first = known.first as usize;
        (&mut self.sites[first..first + count], known.count as usize)
    }

    /// Makes room for `count` elements, whose heads the caller sets.
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

/// What is expected of an element beyond those remembered: repeated string instructions go on in
/// even steps, alternating between load and store. `done` are the payloads so far.
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
        // 1 is followed by 2 after 0, by 3 after 2.
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
