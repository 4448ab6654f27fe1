//! What the nodes of one plan have in common is held once: [`Shared`] text and lists, and [`Args`], whose names and
//! values are shared between nodes that have them equal. A plan of many nodes is mostly such repetition.

use super::Arg;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A value that several owners hold, never changed. It reads, prints, compares and serialises as the value itself.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    /// Whether both are one and the same in memory.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl From<&str> for Shared<String> {
    fn from(text: &str) -> Self {
        Self(Arc::new(text.to_owned()))
    }
}

impl PartialEq<str> for Shared<String> {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Shared<String> {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<String> for Shared<String> {
    fn eq(&self, other: &String) -> bool {
        **self == *other
    }
}

impl<T: fmt::Display> fmt::Display for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

/// The arguments of a node by parameter name, in the order of the names.
///
/// It reads like a map. Invariant: the names are sorted and different, and there is one value for each.
#[derive(Clone, PartialEq, Default)]
pub struct Args {
    names: Shared<Vec<String>>,
    values: Vec<Shared<Arg>>,
}

impl Args {
    /// No arguments.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.names.binary_search_by(|known| known.as_str().cmp(name))
    }

    /// The argument of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arg> {
        self.values.get(self.find(name).ok()?).map(Deref::deref)
    }

    /// Whether there is an argument of this name.
    #[must_use]
    pub fn contains_key(&self, name: &str) -> bool {
        self.find(name).is_ok()
    }

    /// Give an argument, in place of the one of this name when there is one.
    pub fn insert(&mut self, name: String, arg: Arg) {
        match self.find(&name) {
            Ok(at) => {
                if let Some(value) = self.values.get_mut(at) {
                    *value = arg.into();
                }
            }
            Err(at) => {
                Arc::make_mut(&mut self.names.0).insert(at, name);
                self.values.insert(at, arg.into());
            }
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The names, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &String> {
        self.names.iter()
    }

    /// The arguments, in the order of their names.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Arg> {
        self.values.iter().map(Deref::deref)
    }

    /// The arguments, to be changed; one that other nodes hold too becomes this one's own.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut Arg> {
        self.values.iter_mut().map(|value| Arc::make_mut(&mut value.0))
    }

    /// Names with arguments, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&String, &Arg)> {
        self.names.iter().zip(self.values())
    }

    /// The names, as they are held.
    pub(crate) fn names(&self) -> &Shared<Vec<String>> {
        &self.names
    }

    /// The same arguments with names that others hold, when they are equal.
    pub(crate) fn with_names(mut self, names: &Shared<Vec<String>>) -> Self {
        if *self.names == **names {
            self.names = names.clone();
        }
        self
    }

    /// Put another argument in place of the one at `at`, in the order of the names.
    pub(crate) fn set(&mut self, at: usize, arg: Arg) {
        if let Some(value) = self.values.get_mut(at) {
            *value = arg.into();
        }
    }

    /// Replace each argument for which `change` gives another.
    pub fn update(&mut self, mut change: impl FnMut(&Arg) -> Option<Arg>) {
        for value in &mut self.values {
            if let Some(arg) = change(value) {
                *value = arg.into();
            }
        }
    }
}

impl From<BTreeMap<String, Arg>> for Args {
    fn from(args: BTreeMap<String, Arg>) -> Self {
        let (names, values): (Vec<_>, Vec<_>) =
            args.into_iter().map(|(name, arg)| (name, Shared::from(arg))).unzip();
        Self { names: names.into(), values }
    }
}

impl FromIterator<(String, Arg)> for Args {
    fn from_iter<I: IntoIterator<Item = (String, Arg)>>(args: I) -> Self {
        args.into_iter().collect::<BTreeMap<_, _>>().into()
    }
}

impl<const N: usize> From<[(String, Arg); N]> for Args {
    fn from(args: [(String, Arg); N]) -> Self {
        args.into_iter().collect()
    }
}

impl fmt::Debug for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Args {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Args {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Args;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("arguments by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Args, A::Error> {
                let mut args = BTreeMap::new();
                while let Some((name, arg)) = map.next_entry()? {
                    args.insert(name, arg);
                }
                Ok(args.into())
            }
        }
        deserializer.deserialize_map(Entries)
    }
}
