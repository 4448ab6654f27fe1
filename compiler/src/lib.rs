//! Syntax to plan: a pure function of sources, parameters, signatures and a host that reads files.
//!
//! ```text
//! Source -> Ast -> Module -> Plan
//! ```
//!
//! [`check`] reports what is wrong with a program, [`compile`] also gives its [`plan::Plan`] with cache keys. The crate
//! has no clock, environment, threads or file system of its own; everything comes through [`host::Inputs`].

pub mod analysis;
pub mod codes;
pub mod drawing;
mod eval;
pub mod explain;
pub mod host;
pub mod key;
pub mod plan;
mod readings;
mod resolve;
pub mod schema;
mod scope;
mod sources;
pub mod time;
mod typefn;
mod types;
pub mod value;

pub use analysis::Analysis;
pub use codes::Code;
pub use eval::{ParamInfo, Signature, SignatureParam};
pub use host::{FileInfo, Host, HostError, HostErrorKind, Inputs, Library, Machine, ParamText};
pub use readings::Readings;
pub use sources::Sources;

use analysis::Facts;
use eval::{Evaluator, Purpose};
use pipe_grammar::Problem;
use plan::{Plan, Worker};
use resolve::{DeclId, Program};

/// What [`check`] finds.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The texts that problems point into.
    pub sources: Sources,
    /// Everything that is wrong, in file order.
    pub problems: Vec<Problem>,
    /// The program's parameters.
    pub params: Vec<ParamInfo>,
    /// Documentation of the program.
    pub doc: Option<String>,
}

/// What [`compile`] makes.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The texts that problems point into.
    pub sources: Sources,
    /// Everything that is wrong, in file order.
    pub problems: Vec<Problem>,
    /// The plan; `None` if and only if there is an error.
    pub plan: Option<Plan>,
    /// The program's parameters.
    pub params: Vec<ParamInfo>,
    /// Documentation of the program.
    pub doc: Option<String>,
}

/// Report what is wrong with a program, without digesting the files that it reads.
#[must_use]
pub fn check(inputs: &Inputs<'_>) -> Checked {
    let compiled = run(inputs, Purpose::Check);
    let Compiled { sources, problems, params, doc, .. } = compiled;
    Checked { sources, problems, params, doc }
}

/// Compile a program to its plan.
#[must_use]
pub fn compile(inputs: &Inputs<'_>) -> Compiled {
    run(inputs, Purpose::Plan)
}

/// Report what is wrong with a program and tell editors what stands where. `readings` are those of its last analysis.
#[must_use]
pub fn analyse(inputs: &Inputs<'_>, readings: &mut Readings) -> Analysis {
    let (compiled, program, facts) = walk(inputs, readings, Purpose::Check, true);
    let Compiled { sources, problems, .. } = compiled;
    Analysis::new(sources, problems, program, facts.unwrap_or_default())
}

fn run(inputs: &Inputs<'_>, purpose: Purpose) -> Compiled {
    walk(inputs, &mut Readings::default(), purpose, false).0
}

fn walk(
    inputs: &Inputs<'_>,
    readings: &mut Readings,
    purpose: Purpose,
    facts: bool,
) -> (Compiled, Program, Option<Facts>) {
    let mut sources = Sources::default();
    let mut problems = Vec::new();
    let program = resolve::load(inputs, readings, &mut sources, &mut problems);
    let order = resolve::order(&program, &mut problems);
    let doc = program.modules.first().and_then(|main| main.ast.doc.clone());
    let syntax_errors = problems.iter().any(Problem::is_error);
    let mut evaluator =
        Evaluator::new(&program, *inputs, purpose, &mut sources, order.cyclic.clone());
    evaluator.facts = facts.then(|| Facts::outside(program.library_files()));
    for id in &order.sequence {
        if inputs.host.stopped() {
            break;
        }
        evaluator.declared(*id);
    }
    evaluator.unknown_params();
    if purpose == Purpose::Plan {
        evaluator.check_machine();
    }
    let found = std::mem::take(&mut evaluator.problems);
    let (drafts, roots) =
        (std::mem::take(&mut evaluator.drafts), std::mem::take(&mut evaluator.roots));
    let mut params = std::mem::take(&mut evaluator.params);
    let facts = evaluator.facts.take();
    drop(evaluator);
    params.sort_by_key(|param| param.span);
    problems.extend(found);
    if !problems.iter().any(Problem::is_error) {
        problems.extend(lost_roots(&program, &roots, purpose));
    }
    if !syntax_errors {
        resolve::report_unused(&program, &order, &mut problems);
    }
    problems.sort_by_key(|problem| problem.span);
    let failed = problems.iter().any(Problem::is_error);
    let plan = (!failed && purpose == Purpose::Plan)
        .then(|| plan::plan(inputs.file, drafts, roots, &params, inputs.machine));
    (Compiled { sources, problems, plan, params, doc }, program, facts)
}

/// Outputs and checks that came to nothing although no mistake was found.
fn lost_roots(program: &Program, roots: &[plan::Root], purpose: Purpose) -> Vec<Problem> {
    let Some(main) = program.modules.first().filter(|_| purpose == Purpose::Plan) else {
        return Vec::new();
    };
    let lost = main.roots.keys().filter(|name| roots.iter().all(|root| root.name != **name));
    lost.filter_map(|name| {
        let item = main.ast.items.get(*main.roots.get(name)?)?;
        let message = format!("`{name}` could not be planned, and no reason was found");
        let help = "this is a bug in pipe: please report it with the program";
        Some(Problem::error("plan::bug", resolve::name_span(item), message).help(help))
    })
    .collect()
}

/// All ops of a library with their documentation, and what is wrong with the library itself.
#[must_use]
pub fn signatures(library: &dyn Library) -> (Vec<Signature>, Vec<Problem>, Sources) {
    let no_files = host::NoFiles;
    let none = std::collections::BTreeMap::new();
    let tools = std::collections::BTreeMap::new();
    let machine = Machine { threads: 1, memory: 0, gpus: 0 };
    let inputs =
        Inputs { file: "", host: &no_files, library, params: &none, tools: &tools, machine };
    let mut sources = Sources::default();
    let mut problems = Vec::new();
    let program = resolve::load_library(&inputs, &mut sources, &mut problems);
    let order = resolve::order(&program, &mut problems);
    let mut evaluator =
        Evaluator::new(&program, inputs, Purpose::Check, &mut sources, order.cyclic.clone());
    evaluator.check_library = true;
    for id in &order.sequence {
        evaluator.declared(*id);
    }
    let mut found = Vec::new();
    for id in all_functions(&program) {
        found.extend(evaluator.describe(id));
    }
    problems.append(&mut evaluator.problems);
    drop(evaluator);
    found.sort_by(|a, b| a.name.cmp(&b.name));
    (found, problems, sources)
}

fn all_functions(program: &Program) -> Vec<DeclId> {
    let modules = program.modules.iter().enumerate();
    modules
        .flat_map(|(module, loaded)| {
            loaded.values.values().map(move |item| DeclId { module, item: *item })
        })
        .collect()
}

impl Signature {
    /// Whether a registered op has to exist for it.
    #[must_use]
    pub fn is_op(&self) -> bool {
        self.worker.is_some()
    }

    /// Whether the op runs in a torch worker.
    #[must_use]
    pub fn is_torch(&self) -> bool {
        self.worker == Some(Worker::Torch)
    }
}
