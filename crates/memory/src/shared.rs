//! The half of the hierarchy that the cores of a chip share: the shared levels, memory, and which
//! pages the operating system has provided.

use params::ConfigError;

use crate::cache::Outer;
use crate::dram::Dram;
use crate::pages::Pages;
use crate::params::MemoryParams;

/// The shared half, see [`crate::Memory::take_shared`].
#[derive(Clone, Debug)]
pub struct Shared {
    pub(crate) levels: Vec<Outer>,
    pub(crate) dram: Dram,
    pub(crate) pages: Pages,
}

impl Shared {
    /// An empty shared half, from checked parameters.
    pub(crate) fn new(p: &MemoryParams) -> Result<Self, ConfigError> {
        let levels = (p.private_levels()..p.level.len()).map(|at| Outer::new(p, at));
        Ok(Self {
            levels: levels.collect::<Result<_, _>>()?,
            dram: Dram::new(p),
            pages: Pages::new(),
        })
    }
}

impl MemoryParams {
    /// How many levels of the list are private to a core.
    pub(crate) fn private_levels(&self) -> usize {
        self.level.iter().take_while(|level| !level.shared).count()
    }
}

/// The place of the shared half, empty while it is lent to another core.
#[derive(Clone, Debug)]
pub(crate) struct Place(pub(crate) Option<Box<Shared>>);

/// Reachable only through a defect in the program that moves the halves about.
const LENT: &str = "the shared half of this memory is lent to another one";

impl Place {
    /// The shared half.
    ///
    /// # Panics
    /// While it is lent.
    #[inline]
    pub(crate) fn get(&self) -> &Shared {
        self.0.as_deref().expect(LENT)
    }

    /// The shared half.
    ///
    /// # Panics
    /// While it is lent.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> &mut Shared {
        self.0.as_deref_mut().expect(LENT)
    }
}
