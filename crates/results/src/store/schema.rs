//! The schema, as migrations that are only ever appended to.

/// `PRAGMA application_id` of a store: "Mall". Distinguishes a store from other SQLite files.
pub const APPLICATION_ID: i32 = 0x4d61_6c6c;

/// Counters in a store are below this bound: 2^56 cycles are most of a year at 3 GHz, and a sum of
/// a few of them still fits into 64 bits.
pub const COUNTER_BOUND: u64 = 1 << 56;

/// The tables of a configuration's points: their sums, and the calls of each kind.
pub const SAMPLES: [&str; 2] = ["samples", "sample_calls"];
/// Those of its replicates.
pub const REPLICATES: [&str; 2] = ["replicates", "replicate_calls"];

/// Migration `i` takes a store from `PRAGMA user_version` `i` to `i + 1`. Never edit one that has
/// been released; append.
pub const MIGRATIONS: &[&str] = &[V1, V2, V3, V4, V5, V6];

/// Runs, configurations, statistics, histograms and samples.
const V1: &str = "
CREATE TABLE runs (
  id                  INTEGER PRIMARY KEY AUTOINCREMENT,
  program             TEXT    NOT NULL,
  started             INTEGER NOT NULL,
  git_revision        TEXT,
  tool_version        TEXT    NOT NULL,
  seed                TEXT    NOT NULL,
  deterministic       INTEGER NOT NULL,
  host_seconds        REAL    NOT NULL,
  instructions        INTEGER NOT NULL,
  threads             INTEGER NOT NULL,
  context_switches    INTEGER NOT NULL,
  forked_children     INTEGER NOT NULL,
  execs               INTEGER NOT NULL,
  exit_code           INTEGER,
  exit_signal         INTEGER,
  sampling_period     INTEGER,
  sampling_warm       INTEGER,
  sampling_measure    INTEGER,
  sampling_samples    INTEGER,
  sampling_population INTEGER,
  skip                INTEGER NOT NULL,
  max                 INTEGER,
  roi                 INTEGER NOT NULL,
  complete            INTEGER NOT NULL
);
CREATE TABLE arguments (
  run      INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  value    TEXT    NOT NULL,
  PRIMARY KEY (run, position)
) WITHOUT ROWID;
CREATE TABLE warnings (
  run      INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  text     TEXT    NOT NULL,
  PRIMARY KEY (run, position)
) WITHOUT ROWID;
CREATE TABLE configurations (
  id               INTEGER PRIMARY KEY,
  run              INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  position         INTEGER NOT NULL,
  name             TEXT    NOT NULL,
  machine          TEXT    NOT NULL,
  accelerator      TEXT    NOT NULL,
  resolved_machine TEXT    NOT NULL,
  UNIQUE (run, position),
  UNIQUE (run, name)
);
CREATE TABLE parameters (
  configuration INTEGER NOT NULL REFERENCES configurations(id) ON DELETE CASCADE,
  name          TEXT    NOT NULL,
  value         TEXT    NOT NULL,
  PRIMARY KEY (configuration, name)
) WITHOUT ROWID;
CREATE TABLE statistics (
  configuration INTEGER NOT NULL REFERENCES configurations(id) ON DELETE CASCADE,
  position      INTEGER NOT NULL,
  name          TEXT    NOT NULL,
  value                 NOT NULL,
  PRIMARY KEY (configuration, name)
) WITHOUT ROWID;
CREATE INDEX statistics_by_name ON statistics (name);
CREATE TABLE histograms (
  configuration INTEGER NOT NULL REFERENCES configurations(id) ON DELETE CASCADE,
  name          TEXT    NOT NULL,
  low           INTEGER NOT NULL,
  high          INTEGER NOT NULL,
  count         INTEGER NOT NULL,
  PRIMARY KEY (configuration, name, low)
) WITHOUT ROWID;
CREATE TABLE samples (
  configuration    INTEGER NOT NULL REFERENCES configurations(id) ON DELETE CASCADE,
  position         INTEGER NOT NULL,
  instructions     INTEGER NOT NULL,
  cycles           INTEGER NOT NULL,
  allocator_cycles INTEGER NOT NULL,
  PRIMARY KEY (configuration, position)
) WITHOUT ROWID;
CREATE TABLE sample_calls (
  configuration INTEGER NOT NULL REFERENCES configurations(id) ON DELETE CASCADE,
  position      INTEGER NOT NULL,
  kind          TEXT    NOT NULL,
  calls         INTEGER NOT NULL,
  cycles        INTEGER NOT NULL,
  PRIMARY KEY (configuration, position, kind)
) WITHOUT ROWID;
";

/// What the counters of a run mean.
const V2: &str = "
CREATE TABLE declarations (
  id   INTEGER PRIMARY KEY,
  text TEXT NOT NULL
);
ALTER TABLE runs ADD COLUMN declarations INTEGER REFERENCES declarations(id);
";

/// What each configuration is in its run, and why a run has no calls. Until this version, ablations
/// were told apart by their names.
const V3: &str = "
ALTER TABLE runs ADD COLUMN unmeasured TEXT;
ALTER TABLE configurations ADD COLUMN role TEXT NOT NULL DEFAULT 'candidate';
UPDATE configurations SET role = CASE
  WHEN name GLOB 'm32/*' OR name GLOB 'limit/*' THEN 'part'
  WHEN accelerator = 'none' THEN 'baseline'
  WHEN accelerator = 'limit' AND NOT EXISTS (
    SELECT 1 FROM parameters WHERE configuration = configurations.id AND value = 'false'
  ) THEN 'limit'
  WHEN accelerator = 'limit' THEN 'part'
  ELSE 'candidate' END;
";

/// Further seeds, and phases.
const V4: &str = "
CREATE TABLE phases (
  configuration    INTEGER NOT NULL REFERENCES configurations(id) ON DELETE CASCADE,
  position         INTEGER NOT NULL,
  instructions     INTEGER NOT NULL,
  cycles           INTEGER NOT NULL,
  allocator_cycles INTEGER NOT NULL,
  PRIMARY KEY (configuration, position)
) WITHOUT ROWID;
ALTER TABLE runs ADD COLUMN executions INTEGER NOT NULL DEFAULT 1;
CREATE TABLE replicates (
  configuration    INTEGER NOT NULL REFERENCES configurations(id) ON DELETE CASCADE,
  position         INTEGER NOT NULL,
  instructions     INTEGER NOT NULL,
  cycles           INTEGER NOT NULL,
  allocator_cycles INTEGER NOT NULL,
  PRIMARY KEY (configuration, position)
) WITHOUT ROWID;
CREATE TABLE replicate_calls (
  configuration INTEGER NOT NULL REFERENCES configurations(id) ON DELETE CASCADE,
  position      INTEGER NOT NULL,
  kind          TEXT    NOT NULL,
  calls         INTEGER NOT NULL,
  cycles        INTEGER NOT NULL,
  PRIMARY KEY (configuration, position, kind)
) WITHOUT ROWID;
";

/// Begins and ends of allocator calls, and who makes them.
const V5: &str = "
ALTER TABLE runs ADD COLUMN calls_begun INTEGER;
ALTER TABLE runs ADD COLUMN calls_ended INTEGER;
ALTER TABLE runs ADD COLUMN calls_broken INTEGER;
CREATE TABLE call_sites (
  configuration INTEGER NOT NULL REFERENCES configurations(id) ON DELETE CASCADE,
  position      INTEGER NOT NULL,
  place         TEXT,
  calls         INTEGER NOT NULL,
  bytes         INTEGER NOT NULL,
  cycles        INTEGER NOT NULL,
  PRIMARY KEY (configuration, position)
) WITHOUT ROWID;
";

/// Labels of runs, and what size classes are.
const V6: &str = "
ALTER TABLE runs ADD COLUMN label TEXT;
CREATE TABLE size_classes (
  configuration INTEGER NOT NULL REFERENCES configurations(id) ON DELETE CASCADE,
  class         INTEGER NOT NULL,
  bytes         INTEGER NOT NULL,
  PRIMARY KEY (configuration, class)
) WITHOUT ROWID;
";

/// What a table is for.
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// A sentence or two.
    pub about: &'static str,
    /// Its columns, each with its meaning.
    pub columns: &'static [(&'static str, &'static str)],
}

/// The meaning of each table and column: the text of `docs/schema.md`. A test compares it with the
/// tables of a fresh store, column by column.
pub const MEANING: &[Table] = &[
    Table {
        name: "runs",
        about: "One execution of one program. Written when it begins, completed when it ends.",
        columns: &[
            ("id", "the run's number, never reused"),
            ("program", "the program as the user named it"),
            ("started", "seconds since 1970-01-01 UTC"),
            ("git_revision", "revision of mallacc; NULL if it was not built from a checkout"),
            ("tool_version", "version of mallacc"),
            ("seed", "seed of everything random: an unsigned 64-bit number in decimal"),
            ("deterministic", "1 if the program's own sources of randomness were fixed"),
            ("host_seconds", "wall-clock time on the host"),
            ("instructions", "instructions executed, measured or not"),
            ("threads", "threads of the program, including the first"),
            ("context_switches", "switches between threads on the simulated core"),
            ("forked_children", "forked children, which leave the instruction stream"),
            ("execs", "times the program replaced itself"),
            ("exit_code", "NULL unless the program exited"),
            ("exit_signal", "NULL unless a signal killed it; both NULL: interrupted"),
            ("sampling_period", "instructions from one sample to the next; NULL: not sampled"),
            ("sampling_warm", "instructions of detailed warm-up before each sample"),
            ("sampling_measure", "instructions measured in each sample"),
            ("sampling_samples", "samples taken"),
            ("sampling_population", "instructions that the samples represent"),
            ("skip", "instructions skipped before anything was measured"),
            ("max", "largest number of instructions to measure; NULL: no limit"),
            ("roi", "1 if only regions of interest were measured"),
            ("complete", "1 if the run and every configuration finished"),
            ("declarations", "`declarations.id`; NULL for runs stored by schema version 1"),
            ("unmeasured", "why no allocator call could be measured; NULL otherwise"),
            (
                "executions",
                "executions of the program; if there were several, each replicate is one of them",
            ),
            ("calls_begun", "outermost allocator calls that began; NULL: not counted"),
            ("calls_ended", "of these, those that ended at the return of their entry point"),
            ("calls_broken", "times that a begin, an end and a return did not match"),
            ("label", "the user's name for the run; NULL if it has none"),
        ],
    },
    Table {
        name: "arguments",
        about: "The program's arguments, without the program itself.",
        columns: &[("run", "`runs.id`"), ("position", "from 0"), ("value", "the argument")],
    },
    Table {
        name: "warnings",
        about: "What the user should know about a run.",
        columns: &[("run", "`runs.id`"), ("position", "from 0"), ("text", "one sentence")],
    },
    Table {
        name: "configurations",
        about: "One machine of a run, written with all its figures when the machine finishes.",
        columns: &[
            ("id", "the configuration's number"),
            ("run", "`runs.id`"),
            ("position", "order within the run, from 0"),
            ("name", "unique within the run"),
            ("machine", "the machine file's name"),
            ("accelerator", "`none` means no hardware support, `limit` the limit study"),
            ("resolved_machine", "the machine with every default filled in, as TOML"),
            (
                "role",
                "what it is in its run: `baseline`, `subject` (the accelerator that the run is \
                 about), `candidate` (another one), `part` (of an accelerator or of the limit \
                 study), `limit` (accelerated steps at no cost) or `bound` (calls at no cost)",
            ),
        ],
    },
    Table {
        name: "parameters",
        about: "The accelerator's parameters.",
        columns: &[
            ("configuration", "`configurations.id`"),
            ("name", "the parameter"),
            ("value", "as JSON, so that `16`, `true` and `\"16\"` differ"),
        ],
    },
    Table {
        name: "statistics",
        about: "Counters, by the names of `docs/statistics.md`: `cycles`, `malloc.calls`, and \
         those of the models as the path of their group and their name, for example \
         `cache.L1D.misses`, `predictor.conditional`, `cpi.base`. Ratios are not stored.",
        columns: &[
            ("configuration", "`configurations.id`"),
            ("position", "order in reports"),
            ("name", "the statistic"),
            ("value", "INTEGER for counters, REAL for stated figures such as areas"),
        ],
    },
    Table {
        name: "histograms",
        about: "`malloc.latency` and so on (calls by cycles; the extremes are in the statistics \
         `malloc.latency_min` and `malloc.latency_max`), `size_class` (allocations by class), \
         `requested_size` (allocations by bytes requested).",
        columns: &[
            ("configuration", "`configurations.id`"),
            ("name", "the histogram"),
            ("low", "smallest value of the bucket"),
            ("high", "largest value of the bucket"),
            ("count", "how often a value of the bucket occurred; empty buckets are left out"),
        ],
    },
    Table {
        name: "samples",
        about: "Measured intervals of a sampled run. The same position in two configurations of a \
         run is the same instructions.",
        columns: &[
            ("configuration", "`configurations.id`"),
            ("position", "from 0"),
            ("instructions", "instructions measured"),
            ("cycles", "cycles that these took"),
            ("allocator_cycles", "of these, cycles inside allocator calls"),
        ],
    },
    Table {
        name: "sample_calls",
        about: "Allocator calls of a sample; kinds without calls are left out.",
        columns: &[
            ("configuration", "`configurations.id`"),
            ("position", "`samples.position`"),
            ("kind", "`malloc`, `free`, `calloc`, …"),
            ("calls", "calls that ended inside the interval"),
            ("cycles", "cycles that these took"),
        ],
    },
    Table {
        name: "declarations",
        about: "What the counters of runs mean, as the models declared them. Runs of one version \
         of the tool on the same kinds of machine share a row.",
        columns: &[
            ("id", "the row's number"),
            (
                "text",
                "JSON: `kinds` of groups with their figures (name, unit, sentence, formula of what \
                 is not counted), and the `groups` of the machines",
            ),
        ],
    },
    Table {
        name: "phases",
        about: "The course of a run that was not sampled: consecutive parts of about the same \
         number of instructions, at most 64. The same position in two configurations of a run is \
         the same instructions.",
        columns: &[
            ("configuration", "`configurations.id`"),
            ("position", "from 0"),
            ("instructions", "instructions executed"),
            ("cycles", "cycles that these took"),
            ("allocator_cycles", "cycles of the allocator calls that ended in it"),
        ],
    },
    Table {
        name: "replicates",
        about: "What the program took with each seed; none if there was only one. The same \
         position in two configurations of a run is the same seed.",
        columns: &[
            ("configuration", "`configurations.id`"),
            ("position", "0 is the configuration itself, then the further seeds"),
            ("instructions", "instructions measured"),
            ("cycles", "cycles that these took"),
            ("allocator_cycles", "of these, cycles inside allocator calls"),
        ],
    },
    Table {
        name: "replicate_calls",
        about: "Allocator calls of a replicate; kinds without calls are left out.",
        columns: &[
            ("configuration", "`configurations.id`"),
            ("position", "`replicates.position`"),
            ("kind", "`malloc`, `free`, `calloc`, …"),
            ("calls", "calls that ended in it"),
            ("cycles", "cycles that these took"),
        ],
    },
    Table {
        name: "call_sites",
        about: "Where the program calls the allocator: the places that pay most under the run's \
                first configuration, then all others as one.",
        columns: &[
            ("configuration", "`configurations.id`"),
            ("position", "order, from 0"),
            ("place", "function and file, or address in the file; NULL: all other places"),
            ("calls", "calls that ended in the measured part"),
            ("bytes", "bytes that these calls requested"),
            ("cycles", "cycles that these calls took"),
        ],
    },
    Table {
        name: "size_classes",
        about: "The size classes of the program's allocator; runs stored before version 6 of the \
                schema have none.",
        columns: &[
            ("configuration", "`configurations.id`"),
            ("class", "number of the class"),
            ("bytes", "bytes of each block of the class"),
        ],
    },
];
