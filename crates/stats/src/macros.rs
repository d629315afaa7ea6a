//! The two ways to declare counters.

/// Declares a group of counters and the plain `Copy` struct that holds them.
///
/// Each entry has a sentence (its comment), a name, a [`Unit`](crate::Unit), a formula if the
/// figure is not counted, and optionally methods of [`Figure`](crate::Figure) that add to its
/// declaration:
///
/// ```
/// mallacc_stats::counters! {
///     /// Counters of a buffer.
///     pub struct BufferCounters = Head::one("buffer").about("The buffer.");
///
///     /// Lookups.
///     lookups: Accesses,
///     /// Lookups that found their entry.
///     hits: Accesses [since(2)],
///     /// Share of the lookups that found their entry.
///     hit_rate: Fraction = "hits / lookups",
/// }
/// let mut counters = BufferCounters::default();
/// counters.lookups += 1;
/// ```
#[macro_export]
macro_rules! counters {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident = $head:expr;
        $($entries:tt)*
    ) => {
        $crate::counters!(@entries
            { $(#[$meta])* $vis struct $name = $head; } [] [] $($entries)*
        );
    };
    (@entries $head:tt [$($fields:tt)*] [$($figures:tt)*]
        $(#[doc = $doc:literal])+ $field:ident: $unit:ident $([$($mark:tt)*])?, $($rest:tt)*
    ) => {
        $crate::counters!(@entries $head
            [$($fields)* { $(#[doc = $doc])+ $field }]
            [$($figures)* { $field, $unit, concat!($($doc),+), None, [$($($mark)*)?] }]
            $($rest)*
        );
    };
    (@entries $head:tt $fields:tt [$($figures:tt)*]
        $(#[doc = $doc:literal])+
        $figure:ident: $unit:ident = $formula:literal $([$($mark:tt)*])?, $($rest:tt)*
    ) => {
        $crate::counters!(@entries $head $fields
            [$($figures)* { $figure, $unit, concat!($($doc),+), Some($formula), [$($($mark)*)?] }]
            $($rest)*
        );
    };
    (@entries
        { $(#[$meta:meta])* $vis:vis struct $name:ident = $head:expr; }
        [$({ $(#[$doc:meta])+ $field:ident })*]
        [$({ $figure:ident, $unit:ident, $sentence:expr, $formula:expr, [$($mark:tt)*] })*]
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $vis struct $name {
            $( $(#[$doc])+ pub $field: u64, )*
        }

        impl $crate::Group for $name {
            fn declaration() -> &'static $crate::Declaration {
                #[allow(unused_imports)]
                use $crate::{Figure, Head, Unit};
                static FIGURES: &[Figure<&str>] = &[$(
                    $crate::counters!(@marked
                        Figure::new(stringify!($figure), Unit::$unit, $sentence, $formula),
                        $($mark)*
                    )
                ),*];
                static DECLARATION: $crate::Declaration =
                    $crate::Declaration { head: { $head }, figures: FIGURES };
                &DECLARATION
            }

            #[allow(unused_variables)]
            fn read(&self, each: &mut dyn FnMut(u64)) {
                $( each(self.$field); )*
            }
        }
    };
    (@marked $figure:expr, $($method:ident($($argument:expr),*)),*) => {
        $figure $(.$method($($argument),*))*
    };
}

/// Declares causes that a whole is divided among: an enumeration of them, and their counters, to
/// which a stage adds by cause.
///
/// ```
/// mallacc_stats::causes! {
///     /// Why nothing was sent.
///     pub enum Cause, struct Stalls = Head::one("stalls").parts_of("cycles"), Cycles;
///
///     /// The buffer was empty.
///     Empty = "empty",
///     /// The receiver was not ready.
///     Receiver = "receiver",
/// }
/// let mut stalls = Stalls::default();
/// stalls[Cause::Empty] += 3;
/// assert_eq!(Cause::Receiver.name(), "receiver");
/// ```
#[macro_export]
macro_rules! causes {
    (
        $(#[$meta:meta])*
        $vis:vis enum $cause:ident, struct $name:ident = $head:expr, $unit:ident;
        $( $(#[doc = $doc:literal])+ $variant:ident = $text:literal $(($attribute:ident))?, )+
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        $vis enum $cause { $( $(#[doc = $doc])+ $variant, )+ }

        impl $cause {
            /// All, in order.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];
            /// How many there are.
            pub const COUNT: usize = Self::ALL.len();

            /// The name in reports.
            pub fn name(self) -> &'static str {
                match self { $( Self::$variant => $text, )+ }
            }
        }

        #[doc = concat!("A counter for each [`", stringify!($cause), "`].")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $vis struct $name(pub [u64; $cause::COUNT]);

        impl std::ops::Index<$cause> for $name {
            type Output = u64;

            #[inline(always)]
            fn index(&self, cause: $cause) -> &u64 {
                &self.0[cause as usize]
            }
        }

        impl std::ops::IndexMut<$cause> for $name {
            #[inline(always)]
            fn index_mut(&mut self, cause: $cause) -> &mut u64 {
                &mut self.0[cause as usize]
            }
        }

        impl $crate::Group for $name {
            fn declaration() -> &'static $crate::Declaration {
                #[allow(unused_imports)]
                use $crate::{Figure, Head, Unit};
                static FIGURES: &[Figure<&str>] = &[
                    $( Figure::new($text, Unit::$unit, concat!($($doc),+), None)
                        $( .$attribute() )? ),+
                ];
                static DECLARATION: $crate::Declaration =
                    $crate::Declaration { head: { $head }, figures: FIGURES };
                &DECLARATION
            }

            fn read(&self, each: &mut dyn FnMut(u64)) {
                self.0.iter().for_each(|count| each(*count));
            }
        }
    };
}
