//! Pins: results that are never evicted.

use crate::op::OpError;
use crate::store::{Store, signature};
use rusqlite::params;

/// A result that was named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Its action key.
    pub action_key: String,
    /// The node by whose name it was found, or the last one that had it.
    pub node: Option<String>,
    /// The program whose node that was.
    pub file: Option<String>,
}

impl Store {
    /// The stored results that `name` can mean: those of the last runs of all programs with a node of that name, else those
    /// whose action key begins so.
    ///
    /// # Errors
    /// When the database fails.
    pub fn meant(&self, name: &str) -> Result<Vec<Pin>, OpError> {
        let named = self.pin_rows(
            "SELECT n.action_key, n.name, r.file, max(n.run)
             FROM nodes n JOIN runs r ON r.run = n.run
               JOIN results s ON s.action_key = n.action_key
             WHERE n.name = ?1 GROUP BY r.file ORDER BY r.file",
            name,
        )?;
        if !named.is_empty()
            || name.is_empty()
            || !name.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            let mut named = named;
            named.dedup_by(|one, other| one.action_key == other.action_key);
            return Ok(named);
        }
        let found = self.pin_rows(
            "SELECT s.action_key, NULL, NULL, 0 FROM results s
             WHERE substr(s.action_key, 1, length(?1)) = lower(?1) ORDER BY 1",
            name,
        )?;
        let with_node = |pin: Pin| Ok(Pin { node: self.node_of(&pin.action_key)?, ..pin });
        found.into_iter().map(with_node).collect()
    }

    fn pin_rows(&self, query: &str, name: &str) -> Result<Vec<Pin>, OpError> {
        let mut query = self.db.prepare(query).map_err(|error| self.sql(error))?;
        query
            .query_map([name], |row| {
                Ok(Pin { action_key: row.get(0)?, node: row.get(1)?, file: row.get(2)? })
            })
            .and_then(Iterator::collect)
            .map_err(|error| self.sql(error))
    }

    /// Never evict a result. Says whether that is new.
    ///
    /// # Errors
    /// When the database fails.
    pub fn pin(&self, action_key: &str) -> Result<bool, OpError> {
        let insert = "INSERT OR IGNORE INTO pins VALUES (?1, ?2)";
        let added = self.db.execute(insert, params![action_key, signature::now()]);
        added.map(|added| added > 0).map_err(|error| self.sql(error))
    }

    /// Let a pinned result be evicted again. Says whether it was pinned.
    ///
    /// # Errors
    /// When the database fails.
    pub fn unpin(&self, action_key: &str) -> Result<bool, OpError> {
        let removed = self.db.execute("DELETE FROM pins WHERE action_key = ?", [action_key]);
        removed.map(|removed| removed > 0).map_err(|error| self.sql(error))
    }
}
