-- Format 2: where a run came from, what its outputs and checks were, and which files its nodes read.

ALTER TABLE runs ADD COLUMN about TEXT;         -- JSON: command, folder, user, host, versions, machine, sources
ALTER TABLE runs ADD COLUMN git TEXT;           -- JSON: commit, branch, what differs from it
ALTER TABLE runs ADD COLUMN exit_code INTEGER;
ALTER TABLE runs ADD COLUMN peak_bytes INTEGER; -- of the process of pipe; those of workers are in nodes

-- Outputs and checks of each run.
CREATE TABLE roots (
  run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,           -- output, check
  reads TEXT NOT NULL,          -- JSON: names of the nodes it reads
  passed INTEGER,               -- of a check
  shown TEXT NOT NULL,          -- 0.74 >= 0.8, or the value in a few words
  doc TEXT,
  PRIMARY KEY (run, name)
) WITHOUT ROWID;

-- Numbers that outputs and checks hold, by place: quality.f1.
CREATE TABLE numbers (
  run INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
  place TEXT NOT NULL,
  value REAL,                   -- NULL is NaN
  PRIMARY KEY (run, place)
) WITHOUT ROWID;

-- Files that the node under a plan key reads, for the way from a result back to its sources.
CREATE TABLE key_files (
  plan_key TEXT NOT NULL,
  path TEXT NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (plan_key, path)
) WITHOUT ROWID;
