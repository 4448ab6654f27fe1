//! llguidance as an acceptor of what we export, written by others.

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::ApproximateTokEnv;
use llguidance::{Matcher, ParserFactory};
use pipe_grammar::{export, json};

/// An engine that decodes under a grammar, a byte at a time.
pub(crate) struct Acceptor {
    fresh: Matcher,
}

impl Acceptor {
    pub(crate) fn lark() -> Self {
        Self::new(TopLevelGrammar::from_lark(export::lark()))
    }

    /// Of programs as JSON.
    pub(crate) fn json() -> Self {
        Self::new(TopLevelGrammar::from_json_schema(json::schema()))
    }

    fn new(grammar: TopLevelGrammar) -> Self {
        let env = ApproximateTokEnv::single_byte_env();
        let mut factory = ParserFactory::new_simple(&env).unwrap();
        factory.quiet();
        let matcher = Matcher::new(factory.create_parser(grammar));
        assert!(!matcher.is_error(), "{:?}", matcher.get_error());
        Self { fresh: matcher }
    }

    /// Whether the grammar derives `text`; else how many bytes of it are a beginning of what it derives.
    pub(crate) fn accepts(&self, text: &str) -> Result<(), usize> {
        let mut matcher = self.fresh.clone();
        for (at, byte) in text.bytes().enumerate() {
            if matcher.try_consume_tokens(&[u32::from(byte)]).map_err(|_| at)? == 0 {
                return Err(at);
            }
        }
        if matcher.is_accepting().unwrap() { Ok(()) } else { Err(text.len()) }
    }

    pub(crate) fn must(&self, name: &str, text: &str) {
        if let Err(at) = self.accepts(text) {
            let (before, behind) = text.as_bytes().split_at(at);
            let (before, behind) =
                (String::from_utf8_lossy(before), String::from_utf8_lossy(behind));
            panic!("{name} is refused behind\n{before}\n--- before ---\n{behind}");
        }
    }
}
