//! `iterate(init, step: s => .., until: s => .., max: n)`: a state that is computed from the last one, again and again.
//!
//! The condition is asked after each step, so at least one runs. What is known before the run is computed there; else
//! it becomes a driver.

use super::arguments::Given;
use super::frame::{Frame, Variable, read_of};
use super::value::Function;
use super::{Evaluator, Origin, Scope, Typed, Value};
use crate::plan::Arg;
use crate::types::{Type, brief, join};
use crate::value::Const;
use pipe_grammar::ast::Arg as Argument;
use pipe_grammar::{Problem, Span, did_you_mean};
use std::collections::BTreeMap;
use std::rc::Rc;

const NAMES: [&str; 3] = ["step", "until", "max"];
const HELP: &str = "write `iterate(start, step: state => .., until: state => .., max: 10)`; `until` may be left out";

/// The arguments of one call.
struct Iteration<'a> {
    init: Given<'a>,
    step: (Rc<Function<'a>>, Span),
    until: Option<(Rc<Function<'a>>, Span)>,
    max: i64,
    span: Span,
}

impl<'a> Evaluator<'a> {
    pub(super) fn iterate(
        &mut self,
        callee: Span,
        args: &'a [Argument],
        subject: Option<Given<'a>>,
        span: Span,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        if self.in_row > 0 {
            let message = "a function of rows computes one value and cannot repeat";
            return self.fail(Problem::error("types::op_in_row", callee, message));
        }
        let Some(given) = self.iterate_arguments(callee, args, subject, scope) else {
            return Typed::error();
        };
        let Some(iteration) = self.iteration(given, span) else { return Typed::error() };
        let Some(ty) = self.state_type(&iteration) else { return Typed::error() };
        if let Some(state) = self.iterated(&iteration) {
            return Typed { ty, value: state.value };
        }
        if !self.drafting() || iteration.init.value.is_unknown() || ty.is_error() {
            return Typed::unknown(ty);
        }
        self.iterate_in_run(iteration, ty.clone()).unwrap_or_else(|| Typed::unknown(ty))
    }

    /// The arguments by name; `init` is the first.
    fn iterate_arguments(
        &mut self,
        callee: Span,
        args: &'a [Argument],
        subject: Option<Given<'a>>,
        scope: &Scope<'a>,
    ) -> Option<BTreeMap<&'a str, Given<'a>>> {
        let mut found: BTreeMap<&'a str, Given<'a>> = BTreeMap::new();
        found.extend(subject.map(|subject| ("init", subject)));
        let mut broken = false;
        for arg in args {
            let given = Given { value: self.expr(&arg.value, scope), span: arg.value.span };
            let (name, at) = match &arg.name {
                Some(name) => (name.text.as_str(), name.span),
                None if !found.contains_key("init") => ("init", arg.value.span),
                None => {
                    let message = "`iterate` takes its other arguments by name";
                    let problem =
                        Problem::error("types::unnamed_argument", arg.value.span, message);
                    self.report(problem.help(HELP));
                    broken = true;
                    continue;
                }
            };
            if name != "init" && !NAMES.contains(&name) {
                let message = format!("`iterate` has no argument `{name}`");
                let problem = Problem::error("types::unknown_argument", at, message);
                self.report(match did_you_mean(name, NAMES) {
                    Some(near) => problem.label(format!("did you mean `{near}`?")).edit(at, near),
                    None => problem.help(HELP),
                });
                broken = true;
            } else if let Some(first) = found.insert(name, given) {
                let message = format!("the argument `{name}` is given twice");
                let problem = Problem::error("types::duplicate_argument", at, message);
                self.report(problem.also(first.span, "first given here"));
                broken = true;
            }
        }
        let missing: Vec<&str> =
            ["init", "step", "max"].into_iter().filter(|name| !found.contains_key(name)).collect();
        if let (Some(name), false) = (missing.first(), broken) {
            let message = match *name {
                "max" => "`iterate` needs `max`, the most steps that it may take".to_owned(),
                "init" => "`iterate` needs a first state".to_owned(),
                name => format!("`iterate` needs the argument `{name}`"),
            };
            self.report(Problem::error("types::missing_argument", callee, message).help(HELP));
            broken = true;
        }
        (!broken).then_some(found)
    }

    fn iteration(
        &mut self,
        mut given: BTreeMap<&'a str, Given<'a>>,
        span: Span,
    ) -> Option<Iteration<'a>> {
        let max = given.remove("max")?;
        let max = match max.value.as_const() {
            Some(Const::Int(max)) if *max >= 1 => *max,
            _ if super::known::in_run(&max.value) => {
                self.unknown_before("`max` of `iterate`", &max, "it bounds what the run may do");
                return None;
            }
            _ if max.value.is_unknown() && matches!(max.value.ty, Type::Int | Type::Error) => 1,
            _ => {
                let message = "`max` of `iterate` is a whole number, at least 1";
                let problem = Problem::error("types::mismatch", max.span, message);
                self.report(problem.label("the most steps that it may take"));
                return None;
            }
        };
        let step = given.remove("step")?;
        let step = self.state_function("step", &step)?;
        let until = given.remove("until").filter(|until| until.value.ty != Type::None);
        let until = match until {
            Some(until) => Some(self.state_function("until", &until)?),
            None => None,
        };
        Some(Iteration { init: given.remove("init")?, step, until, max, span })
    }

    fn state_function(
        &mut self,
        name: &str,
        given: &Given<'a>,
    ) -> Option<(Rc<Function<'a>>, Span)> {
        if let Value::Function(function) = &given.value.value {
            return Some((Rc::clone(function), given.span));
        }
        if !given.value.is_unknown() {
            let message =
                format!("`{name}` is a function of the state, and this is `{}`", given.value.ty);
            let problem = Problem::error("types::mismatch", given.span, message);
            let start = Span { end: given.span.start, ..given.span };
            self.report(problem.edit(start, "state => "));
        }
        None
    }

    /// The type of the state: that of the first one, wide enough for what a step gives.
    fn state_type(&mut self, it: &Iteration<'a>) -> Option<Type> {
        let mut ty = it.init.value.ty.clone();
        let (step, step_span) = (&it.step.0, it.step.1);
        for _ in 0..2 {
            let sample = self
                .quietly(|at| at.apply_values(step, vec![Typed::unknown(ty.clone())], step_span));
            if sample.ty.is_error() {
                break;
            }
            let Some(joined) = join(&ty, &sample.ty) else {
                let message = format!(
                    "`step` gives the next state, which is `{}` like the first one, and this gives `{}`",
                    brief(&ty),
                    brief(&sample.ty)
                );
                let span = body_span(step, step_span);
                let problem = Problem::error("types::mismatch", span, message)
                    .also(it.init.span, format!("`{}`", it.init.value.ty));
                self.report(problem);
                return None;
            };
            if joined == ty {
                break;
            }
            ty = joined;
        }
        if let Some((until, span)) = &it.until {
            let sample =
                self.quietly(|at| at.apply_values(until, vec![Typed::unknown(ty.clone())], *span));
            if !matches!(sample.ty, Type::Bool | Type::Error) {
                let message =
                    format!("`until` is a condition, `bool`, and this gives `{}`", sample.ty);
                let problem = Problem::error("types::condition", body_span(until, *span), message);
                self.report(match sample.ty {
                    Type::Optional(_) => {
                        problem.help("say what a missing one means: `(..) ?? false`")
                    }
                    _ => problem.help("compare it: `until: state => state.loss < 2.0`"),
                });
                return None;
            }
        }
        Some(ty)
    }

    /// The last state, when all of it is known before the run.
    fn iterated(&mut self, it: &Iteration<'a>) -> Option<Typed<'a>> {
        let mut state = it.init.value.clone();
        state.to_const()?;
        for _ in 0..it.max {
            if self.exhausted {
                return None;
            }
            let (step, span) = (&it.step.0, it.step.1);
            state = self.quietly(|at| at.apply_values(step, vec![state], span));
            state.to_const()?;
            if let Some((until, span)) = &it.until {
                let done = self.quietly(|at| at.apply_values(until, vec![state.clone()], *span));
                match done.as_const() {
                    Some(Const::Bool(true)) => break,
                    Some(Const::Bool(false)) => {}
                    _ => return None,
                }
            }
        }
        Some(state)
    }

    fn iterate_in_run(&mut self, it: Iteration<'a>, ty: Type) -> Option<Typed<'a>> {
        let init_span = it.init.span;
        let init = self
            .fit(it.init.value.clone(), &ty, &mut crate::types::Bindings::default(), init_span)
            .unwrap_or(it.init.value);
        let init = self.materialised(init, init_span);
        let first = super::parts::origin_by_field(&init);
        let mut origin = first.clone();
        let (step_frame, next, step_arg) = loop {
            let before = origin.clone();
            let (frame, value) = self.state_body(&it.step, &ty, &init, &origin);
            let span = body_span(&it.step.0, it.step.1);
            let (value, arg) = self.result_in(&frame, value, &ty, span)?;
            origin.join(&super::parts::origin_by_field(&value));
            if origin == before || before != first {
                break (frame, value, arg);
            }
        };
        let until = match &it.until {
            Some(until) => {
                let (frame, value) = self.state_body(until, &ty, &next, &origin);
                let span = body_span(&until.0, until.1);
                let (_, arg) = self.result_in(&frame, value, &Type::Bool, span)?;
                Some((frame, arg))
            }
            None => None,
        };
        let init_arg = self.arg(&Given { value: init.clone(), span: init_span })?;
        let mut frames: Vec<(&Frame, &Arg)> = vec![(&step_frame, &step_arg)];
        frames.extend(until.iter().map(|(frame, arg)| (frame, arg)));
        let mut closed = self.close(&frames);
        let mut bodies = std::mem::take(&mut closed.bodies).into_iter().map(Box::new);
        let step = Arg::Body(bodies.next()?);
        let until = bodies.next().map_or(Arg::Const(Const::None), Arg::Body);
        let args = BTreeMap::from([
            ("init".to_owned(), init_arg),
            ("step".to_owned(), step),
            ("until".to_owned(), until),
            ("max".to_owned(), Arg::Const(Const::Int(it.max))),
        ]);
        let node = self.drive("flow.iterate", closed, args, ty.clone(), it.span)?;
        Some(self.driven(node, ty, &[&init, &next]))
    }

    /// A function of the state in a frame of its own.
    fn state_body(
        &mut self,
        (function, span): &(Rc<Function<'a>>, Span),
        ty: &Type,
        of: &Typed<'a>,
        origin: &Origin,
    ) -> (Frame, Typed<'a>) {
        let (name, at) = match &**function {
            Function::Lambda { params, .. } => params.first().map(|name| (&name.text, name.span)),
            Function::Declared { function, .. } => {
                function.params.first().map(|param| (&param.name.text, param.name.span))
            }
        }
        .map_or(("state".to_owned(), *span), |(name, span)| (name.clone(), span));
        let variable = Variable {
            name,
            ty: ty.clone(),
            of: read_of(of),
            origin: Rc::new(origin.clone()),
            span: at,
        };
        let (frame, values) = self.open(vec![variable]);
        let value = self.inside(&frame, |it| it.apply_values(function, values, *span));
        (frame, value)
    }
}

fn body_span(function: &Function<'_>, given: Span) -> Span {
    match function {
        Function::Lambda { body, .. } => body.value.span,
        Function::Declared { .. } => given,
    }
}
