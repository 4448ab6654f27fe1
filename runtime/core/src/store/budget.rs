//! Keeping the store within a budget: which results leave, by measured value per byte.
//!
//! The policy is [`Policy::Value`] of [`crate::evict`]; here its facts are gathered from the database. Never evicted are
//! pinned results, those that the outputs of each program's last whole run come from, and those that files of outputs were
//! made from. Runs are safe because cleaning waits until none uses the store.

use crate::evict::{HALF_LIFE, Item, Policy, Shelf, need};
use crate::op::OpError;
use crate::store::{Store, care, disk};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The parts of the shelf that each result holds, by action key.
type Parts = BTreeMap<String, Vec<usize>>;

/// Why a result leaves.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// Content of it is missing, so the record is of no use.
    Lost,
    /// It alone is larger than the budget.
    TooLarge,
    /// Of all that may leave, it is worth least per byte.
    LeastValue {
        /// Seconds to compute it again, with what would have to run for it.
        recompute: f64,
        /// Uses that are to be expected.
        reuse: f64,
    },
}

/// A result that leaves, or would.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaving {
    /// Its action key.
    pub action_key: String,
    /// Its op.
    pub op: String,
    /// Name of a node that had it.
    pub node: Option<String>,
    /// Size of its blobs.
    pub bytes: u64,
    /// Why.
    pub why: Why,
}

/// What a budget asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Results that leave, in this order.
    pub leaving: Vec<Leaving>,
    /// Bytes of the blobs that the others need.
    pub left: u64,
    /// The clock of eviction afterwards.
    pub(crate) clock: f64,
}

/// What is known of the store's results, as the policy sees it.
pub(crate) struct Facts {
    pub(crate) shelf: Shelf,
    ops: Vec<String>,
    /// Results with content that is missing.
    lost: Vec<usize>,
    by_key: BTreeMap<Arc<str>, usize>,
}

impl Facts {
    /// The number of a result.
    pub(crate) fn find(&self, action_key: &str) -> Option<usize> {
        self.by_key.get(action_key).copied()
    }
}

impl Store {
    /// Which results would leave under a budget in bytes, and why.
    ///
    /// # Errors
    /// When the database fails.
    pub fn select(&self, budget: Option<u64>) -> Result<Selection, OpError> {
        let mut facts = self.facts()?;
        let mut leaving = Vec::new();
        for at in std::mem::take(&mut facts.lost) {
            leaving.push(self.leaving(&facts, at, Why::Lost)?);
            facts.shelf.take(at);
        }
        if let Some(budget) = budget {
            for at in 0..facts.shelf.len() {
                if facts.shelf.may_leave(at) && facts.shelf.bytes(at) > budget {
                    leaving.push(self.leaving(&facts, at, Why::TooLarge)?);
                    facts.shelf.take(at);
                }
            }
            while facts.shelf.held() > budget {
                let Some((at, score)) = facts.shelf.victim() else { break };
                let (recompute, reuse) = (facts.shelf.recompute(at), facts.shelf.reuse(at));
                leaving.push(self.leaving(&facts, at, Why::LeastValue { recompute, reuse })?);
                facts.shelf.evict(at, score);
            }
        }
        Ok(Selection { leaving, left: facts.shelf.held(), clock: facts.shelf.clock() })
    }

    fn leaving(&self, facts: &Facts, at: usize, why: Why) -> Result<Leaving, OpError> {
        let action_key = facts.shelf.item(at).map_or("", |item| &item.key).to_owned();
        Ok(Leaving {
            op: facts.ops.get(at).cloned().unwrap_or_default(),
            node: self.node_of(&action_key)?,
            bytes: facts.shelf.bytes(at),
            action_key,
            why,
        })
    }

    /// Name of the last node that had a result.
    pub(crate) fn node_of(&self, action_key: &str) -> Result<Option<String>, OpError> {
        self.db
            .prepare_cached("SELECT name FROM nodes WHERE action_key = ? ORDER BY run DESC LIMIT 1")
            .and_then(|mut query| query.query_row([action_key], |row| row.get(0)).optional())
            .map_err(|error| self.sql(error))
    }

    /// Remove the records of what leaves, in one transaction.
    pub(crate) fn let_go(&mut self, selection: &Selection) -> Result<(), OpError> {
        let folder = self.folder.clone();
        let fail = |error: rusqlite::Error| super::sql(&folder, &error);
        let write = self.db.transaction().map_err(fail)?;
        for leaving in &selection.leaving {
            write
                .prepare_cached("DELETE FROM results WHERE action_key = ?")
                .and_then(|mut remove| remove.execute([&leaving.action_key]))
                .map_err(fail)?;
        }
        write.execute("UPDATE clock SET value = ?", [selection.clock]).map_err(fail)?;
        write.commit().map_err(fail)
    }

    /// Forget what gone results took, where no stored one is made from them and no run on record had them.
    pub(crate) fn forget_costs(&mut self) -> Result<(), OpError> {
        let facts = self.facts()?;
        let mut open: Vec<usize> =
            (0..facts.shelf.len()).filter(|at| facts.shelf.has(*at)).collect();
        let mut needed: BTreeSet<usize> = open.iter().copied().collect();
        while let Some(at) = open.pop() {
            open.extend(facts.shelf.parents(at).iter().filter(|parent| needed.insert(**parent)));
        }
        let folder = self.folder.clone();
        let fail = |error: rusqlite::Error| super::sql(&folder, &error);
        let write = self.db.transaction().map_err(fail)?;
        for (key, at) in facts.by_key.iter().filter(|(_, at)| !needed.contains(at)) {
            debug_assert!(!facts.shelf.has(*at));
            write
                .prepare_cached(
                    "DELETE FROM costs WHERE action_key = ?1 AND ?1 NOT IN
                       (SELECT action_key FROM nodes WHERE action_key IS NOT NULL)",
                )
                .and_then(|mut remove| remove.execute([&**key]))
                .map_err(fail)?;
        }
        write.commit().map_err(fail)
    }

    /// Gather the facts that the policy judges by.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) fn facts(&self) -> Result<Facts, OpError> {
        let clock = self
            .db
            .query_row("SELECT value FROM clock", [], |row| row.get(0))
            .map_err(|error| self.sql(error))?;
        let mut shelf = Shelf::new(Policy::Value, clock);
        let (contents, missing) = self.contents(&mut shelf)?;
        let mut facts = Facts { shelf, ops: Vec::new(), lost: Vec::new(), by_key: BTreeMap::new() };
        let mut families = Vec::new();
        for row in self.cost_rows()? {
            let key: Arc<str> = row.action_key.as_str().into();
            let item = Item {
                key: key.clone(),
                seconds: row.seconds,
                hits: row.hits,
                counted: row.counted,
                floor: row.floor,
                ..Item::default()
            };
            let parts = contents.get(&row.action_key).cloned().unwrap_or_default();
            let at = facts.shelf.add(item, parts);
            facts.ops.push(row.op);
            if row.stored {
                facts.shelf.restore(at);
                if missing.contains(&row.action_key) {
                    facts.lost.push(at);
                }
            }
            families.push((at, row.parents));
            facts.by_key.insert(key, at);
        }
        for (at, parents) in families {
            for parent in parents.split(',') {
                if let Some(parent) = facts.find(parent) {
                    facts.shelf.link(parent, at);
                }
            }
        }
        for key in self.kept_keys()? {
            if let Some(at) = facts.find(&key) {
                facts.shelf.keep(at, true);
            }
        }
        self.add_needs(&mut facts)?;
        let last = "SELECT coalesce(max(run), 0) FROM runs";
        let run = self.db.query_row(last, [], |row| row.get(0));
        facts.shelf.begin(run.map_err(|error| self.sql(error))?);
        Ok(facts)
    }

    fn cost_rows(&self) -> Result<Vec<CostRow>, OpError> {
        let mut query = self
            .db
            .prepare(
                "SELECT c.action_key, c.op, c.seconds, c.parents, c.hits, c.counted, c.floor,
                   r.action_key IS NOT NULL
                 FROM costs c LEFT JOIN results r ON r.action_key = c.action_key",
            )
            .map_err(|error| self.sql(error))?;
        let rows = query.query_map([], |row| {
            Ok(CostRow {
                action_key: row.get(0)?,
                op: row.get(1)?,
                seconds: row.get(2)?,
                parents: row.get(3)?,
                hits: row.get(4)?,
                counted: row.get(5)?,
                floor: row.get(6)?,
                stored: row.get(7)?,
            })
        });
        rows.and_then(Iterator::collect).map_err(|error| self.sql(error))
    }

    /// The blobs of each result, as parts of the shelf, and the results with a blob that is missing.
    fn contents(&self, shelf: &mut Shelf) -> Result<(Parts, BTreeSet<String>), OpError> {
        let there: BTreeSet<String> =
            self.blobs.list().map_err(|error| disk(&self.folder, &error))?.into_iter().collect();
        let mut query = self
            .db
            .prepare(
                "SELECT r.digest, r.action_key, coalesce(b.bytes, 0)
                 FROM result_blobs r LEFT JOIN blobs b ON b.digest = r.digest
                 ORDER BY r.digest, r.action_key",
            )
            .map_err(|error| self.sql(error))?;
        let rows: Vec<(String, String, i64)> = query
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .and_then(Iterator::collect)
            .map_err(|error| self.sql(error))?;
        let mut contents: Parts = BTreeMap::new();
        let mut missing = BTreeSet::new();
        let mut last: Option<(String, usize)> = None;
        for (digest, action_key, bytes) in rows {
            let part = match &last {
                Some((same, part)) if *same == digest => *part,
                _ => {
                    let known = bytes.unsigned_abs();
                    let unknown = || care::size(&self.blobs.path(&digest));
                    shelf.add_part(if known > 0 { known } else { unknown() })
                }
            };
            if !there.contains(&digest) {
                missing.insert(action_key.clone());
            }
            contents.entry(action_key).or_default().push(part);
            last = Some((digest, part));
        }
        Ok((contents, missing))
    }

    /// Results that never leave: pinned ones, and those that outputs come from.
    fn kept_keys(&self) -> Result<BTreeSet<String>, OpError> {
        let direct = self.texts(
            "SELECT action_key FROM pins UNION
             SELECT b.action_key FROM result_blobs b JOIN outputs o ON o.digest = b.digest",
        )?;
        let lists = self.texts("SELECT results FROM programs")?;
        let of_programs = lists.iter().flat_map(|list| list.split(',')).map(str::to_owned);
        Ok(of_programs.chain(direct).collect())
    }

    /// Uses that are to be expected: what the last run of each program would ask for after a change.
    fn add_needs(&self, facts: &mut Facts) -> Result<(), OpError> {
        let mut query = self
            .db
            .prepare(
                "SELECT DISTINCT p.file, coalesce(n.action_key, i.action_key) AS key,
                   instr(p.results, coalesce(n.action_key, i.action_key, '')) > 0
                 FROM programs p JOIN nodes n ON n.run = p.run
                   LEFT JOIN plan_index i ON i.plan_key = n.plan_key
                 ORDER BY p.file",
            )
            .map_err(|error| self.sql(error))?;
        let rows: Vec<(String, Option<String>, bool)> = query
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .and_then(Iterator::collect)
            .map_err(|error| self.sql(error))?;
        let mut programs: BTreeMap<String, BTreeMap<usize, bool>> = BTreeMap::new();
        for (file, key, root) in rows {
            if let Some(at) = key.and_then(|key| facts.find(&key)) {
                programs.entry(file).or_default().insert(at, root);
            }
        }
        for nodes in programs.values() {
            for (at, root) in nodes {
                let children = facts.shelf.children(*at).iter();
                let readers = children.filter(|child| nodes.contains_key(child)).count();
                if let Some(item) = facts.shelf.facts(*at) {
                    item.needs += need(readers, *root);
                }
            }
        }
        Ok(())
    }

    /// Remember which results the outputs of a program come from, when a run could compute all of them.
    ///
    /// # Errors
    /// When the database fails.
    pub fn settle_program(
        &self,
        file: &str,
        run: i64,
        results: &BTreeSet<String>,
    ) -> Result<(), OpError> {
        let list: Vec<&str> = results.iter().map(String::as_str).collect();
        self.db
            .prepare_cached("INSERT OR REPLACE INTO programs VALUES (?1, ?2, ?3)")
            .and_then(|mut insert| insert.execute(params![file, run, list.join(",")]))
            .map(drop)
            .map_err(|error| self.sql(error))
    }

    fn texts(&self, query: &str) -> Result<Vec<String>, OpError> {
        let mut query = self.db.prepare(query).map_err(|error| self.sql(error))?;
        query
            .query_map([], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(|error| self.sql(error))
    }
}

/// A row of the table `costs`, and whether its result is stored.
struct CostRow {
    action_key: String,
    op: String,
    seconds: f64,
    parents: String,
    hits: f64,
    counted: i64,
    floor: f64,
    stored: bool,
}

/// Record what a result took and what it was made from. What is known of its uses stays.
pub(crate) fn write_cost(
    write: &Transaction<'_>,
    result: &super::NewResult,
) -> rusqlite::Result<()> {
    let parents: Vec<&str> = result.parents.iter().map(String::as_str).collect();
    write
        .prepare_cached(
            "INSERT INTO costs VALUES (?1, ?2, ?3, ?4, 0.0, ?5, (SELECT value FROM clock))
             ON CONFLICT (action_key) DO UPDATE SET op = excluded.op,
               seconds = excluded.seconds, parents = excluded.parents, floor = excluded.floor",
        )?
        .execute(params![
            result.action_key,
            result.op,
            result.own_seconds,
            parents.join(","),
            result.run
        ])
        .map(drop)
}

/// Count that results were of use in a run.
pub(crate) fn count_uses(
    write: &Connection,
    run: i64,
    used: &BTreeSet<String>,
) -> rusqlite::Result<()> {
    let clock: f64 = write.query_row("SELECT value FROM clock", [], |row| row.get(0))?;
    for action_key in used {
        let known: Option<(f64, i64)> = write
            .prepare_cached("SELECT hits, counted FROM costs WHERE action_key = ?")?
            .query_row([action_key], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((hits, counted)) = known else { continue };
        let hits = hits * (-((run - counted).max(0) as f64) / HALF_LIFE).exp2() + 1.0;
        write
            .prepare_cached(
                "UPDATE costs SET hits = ?2, counted = ?3, floor = ?4 WHERE action_key = ?1",
            )?
            .execute(params![action_key, hits, run, clock])?;
    }
    Ok(())
}
