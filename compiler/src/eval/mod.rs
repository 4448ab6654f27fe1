//! One walk over the declarations that checks types, computes what is known, and drafts the plan's nodes.
//!
//! Every expression evaluates to a type and as much of a value as is known ([`Typed`]). Op calls become drafts of
//! nodes; scalars that depend on columns or on results become row expressions. Functions with a body are checked once
//! with unknown arguments and then inlined at each call.

mod arguments;
mod attributes;
mod call;
mod choose;
mod columns;
mod control;
mod convert;
mod declare;
mod draft;
mod each;
mod expr;
mod field;
mod files;
mod fold;
mod frame;
mod groups;
mod habits;
mod iterate;
mod keyed;
mod known;
mod lists;
mod lookup;
mod machine;
mod native;
mod operator;
mod params;
mod parts;
mod repeat;
mod row;
mod scalar;
mod search;
mod selection;
mod shapes;
mod signature;
mod value;
mod window;
mod written;

pub(crate) use arguments::Given;
pub(crate) use attributes::Attributes;
pub(crate) use call::NativeCall;
pub(crate) use draft::{Draft, DraftPlace, Drafts};
pub use params::ParamInfo;
pub(crate) use row::run_scalar;
pub(crate) use signature::Native;
pub use signature::{Signature, SignatureParam};
pub(crate) use value::{
    Leaf, LeafSource, NodeValue, Origin, RowSource, Scalar, Scope, Typed, Value,
};

use crate::analysis::Facts;
use crate::host::Inputs;
use crate::plan::{Root, Shared};
use crate::resolve::{DeclId, Program};
use crate::schema::{Reading, Schema};
use crate::sources::Sources;
use crate::types::Type;
use pipe_grammar::{Problem, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Deepest nesting of expressions, calls included. A level takes at most 6.6 KB of stack where nothing is optimised, so
/// that all of them take 1.6 MB, less than the 2 MB that threads have.
const MAX_DEPTH: usize = 240;
/// Most expressions that one program may evaluate, inlined calls and loops included.
const MAX_STEPS: usize = 10_000_000;
/// Most of them that may give no node, and those that each node allows more: a second of work at most comes to nothing.
const MAX_IDLE_STEPS: usize = 500_000;
const STEPS_PER_NODE: usize = 40;
/// Most nodes of a plan.
const MAX_NODES: usize = 250_000;

/// Whether files are digested and nodes keyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Only problems are wanted.
    Check,
    /// A plan is wanted.
    Plan,
}

/// The state of one walk.
pub(crate) struct Evaluator<'a> {
    pub(crate) program: &'a Program,
    pub(crate) inputs: Inputs<'a>,
    pub(crate) purpose: Purpose,
    pub(crate) sources: &'a mut Sources,
    pub(crate) problems: Vec<Problem>,
    /// Places already complained about, so that a loop body or an inlined function complains once.
    reported: BTreeSet<(&'static str, Span)>,
    /// Folders of paths that come from outside, by the file their text stands in.
    param_folders: BTreeMap<pipe_grammar::FileId, String>,
    values: BTreeMap<DeclId, Typed<'a>>,
    types: BTreeMap<DeclId, Type>,
    open: BTreeSet<DeclId>,
    cyclic: BTreeSet<DeclId>,
    signatures: BTreeMap<DeclId, Option<Rc<Native>>>,
    pub(crate) drafts: Drafts,
    /// Shapes of models and of rows of tokens, by the draft that makes them.
    shapes: BTreeMap<usize, shapes::Shape>,
    /// Drafts by frame, key and cache policy: a body merges with nothing outside, so that it is the same wherever else
    /// a call of it stands.
    keyed: keyed::Keyed,
    /// Where drafts go now.
    frame: frame::Level,
    /// Frames made so far.
    frames: u32,
    /// The last call at each place where calls are made again.
    last: BTreeMap<usize, Option<repeat::Last<'a>>>,
    /// Arguments that are evaluated already, by their places.
    ahead: BTreeMap<usize, Typed<'a>>,
    /// Above zero: inside a turn of a loop.
    turns: usize,
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) roots: Vec<Root>,
    pub(crate) params: Vec<ParamInfo>,
    place: Place,
    /// Calls of declared functions that are being inlined, outermost first.
    calls: Vec<Span>,
    /// Above zero: types are checked, no nodes are drafted.
    quiet: usize,
    /// Above zero: inside a function of rows.
    in_row: usize,
    /// The order of the rows that the function of rows is given.
    order: Option<window::RowOrder>,
    depth: usize,
    steps: usize,
    exhausted: bool,
    /// Look into the bodies of library functions too.
    pub(crate) check_library: bool,
    /// Types by place, for editors only.
    pub(crate) facts: Option<Facts>,
    /// Digests of the files looked at so far; their paths when only problems are wanted.
    digests: BTreeMap<String, String>,
    pub(crate) schemas: BTreeMap<(String, Reading), Option<Rc<Schema>>>,
    /// The file that is looked at may come later: its rows are known from `row: T`.
    pub(crate) born_later: bool,
}

/// Which declaration the drafts belong to.
#[derive(Clone, Debug, Default)]
struct Place {
    name: Shared<String>,
    doc: Option<Shared<String>>,
    attributes: Rc<Attributes>,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(
        program: &'a Program,
        inputs: Inputs<'a>,
        purpose: Purpose,
        sources: &'a mut Sources,
        cyclic: BTreeSet<DeclId>,
    ) -> Self {
        Self {
            program,
            inputs,
            purpose,
            sources,
            problems: Vec::new(),
            reported: BTreeSet::new(),
            param_folders: BTreeMap::new(),
            values: BTreeMap::new(),
            types: BTreeMap::new(),
            open: BTreeSet::new(),
            cyclic,
            signatures: BTreeMap::new(),
            drafts: Vec::new(),
            keyed: keyed::Keyed::default(),
            shapes: BTreeMap::new(),
            frame: frame::Level::default(),
            frames: 0,
            last: BTreeMap::new(),
            ahead: BTreeMap::new(),
            turns: 0,
            leaves: Vec::new(),
            roots: Vec::new(),
            params: Vec::new(),
            place: Place::default(),
            calls: Vec::new(),
            quiet: 0,
            in_row: 0,
            order: None,
            depth: 0,
            steps: 0,
            exhausted: false,
            check_library: false,
            facts: None,
            digests: BTreeMap::new(),
            schemas: BTreeMap::new(),
            born_later: false,
        }
    }

    /// Note for editors what stands at `span`.
    #[inline]
    pub(crate) fn note(&mut self, span: Span, ty: &Type) {
        if let Some(facts) = &mut self.facts {
            facts.note(span, ty);
        }
    }

    /// Report a problem once per place. Inside an inlined function the call is shown too.
    pub(crate) fn report(&mut self, mut problem: Problem) {
        if !self.reported.insert((problem.code, problem.span)) {
            return;
        }
        if let Some(call) = self.calls.first()
            && *call != problem.span
        {
            problem = problem.also(*call, "in this call");
        }
        self.problems.push(problem);
    }

    /// Report an error and give the silent value.
    pub(crate) fn fail(&mut self, problem: Problem) -> Typed<'a> {
        self.report(problem);
        Typed::error()
    }

    /// Evaluate without drafting nodes.
    fn quietly<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        self.quiet += 1;
        let result = body(self);
        self.quiet -= 1;
        result
    }

    /// Whether nodes are drafted.
    pub(crate) fn drafting(&self) -> bool {
        self.quiet == 0
    }

    /// Whether an expression of the program's own file or of a used file is looked at.
    pub(crate) fn source_of(&self, span: Span) -> String {
        self.sources.slice(span).to_owned()
    }
}
