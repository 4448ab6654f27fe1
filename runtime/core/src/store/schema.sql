-- The store's database, format 1; later formats add to it. Times are nanoseconds since 1970, digests and keys are hex.

-- What ran, and when.
CREATE TABLE runs (
  run INTEGER PRIMARY KEY AUTOINCREMENT,
  file TEXT NOT NULL,
  params TEXT NOT NULL,
  started INTEGER NOT NULL,
  seconds REAL,
  state TEXT NOT NULL,          -- running, done, failed, stopped, interrupted
  ran INTEGER NOT NULL DEFAULT 0,
  cached INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  skipped INTEGER NOT NULL DEFAULT 0,
  checks_failed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX runs_of_file ON runs (file, run);

-- The nodes of each run.
CREATE TABLE nodes (
  run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
  name TEXT NOT NULL,
  op TEXT NOT NULL,
  plan_key TEXT NOT NULL,
  action_key TEXT,
  state TEXT NOT NULL,          -- ran, cached, failed, skipped
  seconds REAL NOT NULL,
  digest TEXT,
  error TEXT,                   -- JSON
  context TEXT,                 -- JSON
  peak_bytes INTEGER,
  PRIMARY KEY (run, name)
) WITHOUT ROWID;
CREATE INDEX nodes_of_name ON nodes (name, run);

-- The readable fields behind plan keys, so that `pipe why` can say which one changed.
CREATE TABLE key_fields (
  plan_key TEXT PRIMARY KEY,
  fields TEXT NOT NULL          -- JSON
) WITHOUT ROWID;

-- Results by action key. Values of 4 KiB and more lie in a blob.
CREATE TABLE results (
  action_key TEXT PRIMARY KEY,
  op TEXT NOT NULL,
  value TEXT,                   -- JSON
  blob TEXT,
  digest TEXT NOT NULL,
  context TEXT NOT NULL,        -- JSON
  run INTEGER NOT NULL,
  seconds REAL NOT NULL,
  created INTEGER NOT NULL,
  used INTEGER NOT NULL
) WITHOUT ROWID;

-- Blobs that results refer to.
CREATE TABLE result_blobs (
  action_key TEXT NOT NULL REFERENCES results (action_key) ON DELETE CASCADE,
  digest TEXT NOT NULL,
  PRIMARY KEY (action_key, digest)
) WITHOUT ROWID;
CREATE INDEX results_of_blob ON result_blobs (digest);

-- From plan keys to action keys: a plan is answered before anything is computed.
CREATE TABLE plan_index (
  plan_key TEXT PRIMARY KEY,
  action_key TEXT NOT NULL REFERENCES results (action_key) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX plans_of_action ON plan_index (action_key);

-- Blobs with the signature under which their content was last hashed.
CREATE TABLE blobs (
  digest TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL,
  signature TEXT NOT NULL,
  created INTEGER NOT NULL
) WITHOUT ROWID;

-- Curves.
CREATE TABLE metrics (
  run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
  node TEXT NOT NULL,
  name TEXT NOT NULL,
  step INTEGER NOT NULL,
  value REAL                    -- NULL is NaN
);
CREATE INDEX metrics_of_node ON metrics (run, node, name, step);

-- What was written outside the store, with the signature of the file then.
CREATE TABLE outputs (
  path TEXT PRIMARY KEY,
  run INTEGER NOT NULL,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  signature TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX outputs_of_run ON outputs (run);

-- Digests of files that programs read, with the signature under which they were hashed.
CREATE TABLE files (
  path TEXT PRIMARY KEY,
  signature TEXT NOT NULL,
  digest TEXT NOT NULL,
  hashed INTEGER NOT NULL
) WITHOUT ROWID;
