-- Format 3: what eviction judges by.

-- What a result took and how often it was of use. A row stays when its result goes: what is made from it is dearer then.
CREATE TABLE costs (
  action_key TEXT PRIMARY KEY,
  op TEXT NOT NULL,
  seconds REAL NOT NULL,        -- of its producer alone
  parents TEXT NOT NULL,        -- action keys of the results that it was made from, with commas between
  hits REAL NOT NULL,           -- how often it was found, decayed up to the run `counted`
  counted INTEGER NOT NULL,
  floor REAL NOT NULL           -- the clock of eviction when it was of use last
) WITHOUT ROWID;

-- Results that are never evicted.
CREATE TABLE pins (
  action_key TEXT PRIMARY KEY,
  pinned INTEGER NOT NULL
) WITHOUT ROWID;

-- The last run of each program that could compute all its outputs, and the results that they come from.
CREATE TABLE programs (
  file TEXT PRIMARY KEY,        -- absolute
  run INTEGER NOT NULL,
  results TEXT NOT NULL         -- action keys with commas between
) WITHOUT ROWID;

-- The clock of eviction: the score of the dearest result that has left.
CREATE TABLE clock (value REAL NOT NULL);
INSERT INTO clock VALUES (0.0);

INSERT INTO costs
  SELECT r.action_key, r.op,
    -- The time of a driver is that of its elements, which are results themselves.
    CASE WHEN r.op LIKE 'flow.%' OR r.op LIKE 'tune.%' THEN 0.0 ELSE r.seconds END,
    coalesce((SELECT group_concat(DISTINCT q.action_key)
      FROM plan_index p JOIN key_fields k ON k.plan_key = p.plan_key
        JOIN json_tree(k.fields) i ON i.path LIKE '%.inputs'
        JOIN plan_index q ON q.plan_key = i.atom
      WHERE p.action_key = r.action_key), ''),
    0.0, r.run, 0.0
  FROM results r;
