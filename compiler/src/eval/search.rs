//! Searches, `tune.*`: drivers that the library declares. What a trial computes is a function of the program, which becomes
//! the body of the driver; which points are tried next is decided in the run, from the results so far in trial order.
//!
//! A signature with `@native(types: "search")` has one parameter that is a function with a score as its result, and gives a
//! record with the field `point`. All other arguments go to the driver as they are.

use super::frame::Variable;
use super::parts::origin_by_field;
use super::value::Function;
use super::{Evaluator, NativeCall, Origin, Typed, Value};
use crate::plan::Arg;
use crate::types::{Bindings, FunctionType, Type, accepts, brief};
use pipe_grammar::{Problem, Span};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The function that makes a trial.
struct Trial<'a> {
    param: String,
    function: Rc<Function<'a>>,
    span: Span,
    /// Types of its variables.
    takes: Vec<Type>,
    score: Type,
}

impl<'a> Evaluator<'a> {
    pub(super) fn search(&mut self, call: &NativeCall<'a>) -> Typed<'a> {
        let ty = call.bound.apply(&call.native.result);
        let Some(trial) = self.trial_of(call) else { return Typed::unknown(ty) };
        let unknown = call.values.values().any(|given| given.value.is_unknown());
        if call.broken || unknown || !self.drafting() {
            let values = trial.takes.iter().cloned().map(Typed::unknown).collect();
            let score = self.quietly(|it| it.apply_values(&trial.function, values, trial.span));
            self.is_score(&trial, &score);
            return Typed::unknown(ty);
        }
        self.searched(call, &trial, &ty).unwrap_or_else(|| Typed::unknown(ty))
    }

    fn trial_of(&mut self, call: &NativeCall<'a>) -> Option<Trial<'a>> {
        let function = |ty: &Type| match ty {
            Type::Function(function) => Some(Rc::clone(function)),
            _ => None,
        };
        let mut params = call.native.params.iter();
        let (param, wanted): (_, Rc<FunctionType>) =
            params.find_map(|param| Some((param, function(&param.ty)?)))?;
        let given = call.values.get(&param.name)?;
        let Value::Function(function) = &given.value.value else {
            if !given.value.is_unknown() && !given.value.ty.is_error() {
                let message = format!(
                    "`{}` is a function that gives a score, and this is `{}`",
                    param.name, given.value.ty
                );
                self.report(Problem::error("types::mismatch", given.span, message));
            }
            return None;
        };
        Some(Trial {
            param: param.name.clone(),
            function: Rc::clone(function),
            span: given.span,
            takes: wanted.params.iter().map(|param| call.bound.apply(param)).collect(),
            score: wanted.result.clone(),
        })
    }

    /// Whether a trial gives a number that others are compared with; reports one that does not.
    fn is_score(&mut self, trial: &Trial<'a>, score: &Typed<'a>) -> bool {
        if score.ty.is_error() || accepts(&trial.score, &score.ty, &mut Bindings::default()).is_ok()
        {
            return !score.ty.is_error();
        }
        let span = match &*trial.function {
            Function::Lambda { body, .. } => body.value.span,
            Function::Declared { .. } => trial.span,
        };
        let message = format!(
            "`{}` gives a score, `{}`, and this gives `{}`",
            trial.param,
            trial.score,
            brief(&score.ty)
        );
        let problem = Problem::error("types::mismatch", span, message);
        self.report(match &score.ty {
            Type::Optional(_) => {
                problem.help("say what a missing score counts as: `score ?? math.inf`")
            }
            _ => problem.help("give the number that trials are compared by"),
        });
        false
    }

    fn searched(
        &mut self,
        call: &NativeCall<'a>,
        trial: &Trial<'a>,
        ty: &Type,
    ) -> Option<Typed<'a>> {
        let points = call.values.get(&call.native.params.first()?.name)?;
        let held = origin_by_field(&points.value);
        let variables = self.trial_variables(trial, &held);
        let (frame, values) = self.open(variables);
        let score = self.inside(&frame, |it| it.apply_values(&trial.function, values, trial.span));
        if !self.is_score(trial, &score) {
            return None;
        }
        let (score, result) = self.result_in(&frame, score, &trial.score, trial.span)?;
        let mut closed = self.close(&[(&frame, &result)]);
        let body = closed.bodies.pop()?;
        let mut args = BTreeMap::from([(trial.param.clone(), Arg::Body(Box::new(body)))]);
        for (name, given) in call.values.iter().filter(|(name, _)| **name != trial.param) {
            args.insert(name.clone(), self.arg(given)?);
        }
        // The chosen point is what it was, chosen by what its score has seen.
        let seen = super::parts::origin_in(&score);
        let mut origin =
            Origin { selected: self.selection(&score, call.site.span), ..seen.clone() };
        origin.add(&held);
        origin.fields = [("point".into(), held), ("score".into(), seen)].into();
        let node = self.drive(&call.native.op, closed, args, ty.clone(), call.site.span)?;
        Some(super::draft::whole(node, ty.clone(), Rc::new(origin)))
    }

    /// What the function binds: a point first, then what the driver gives it.
    fn trial_variables(&self, trial: &Trial<'a>, points: &Origin) -> Vec<Variable> {
        let names: Vec<(String, Span)> = match &*trial.function {
            Function::Lambda { params, .. } => {
                params.iter().map(|name| (name.text.clone(), name.span)).collect()
            }
            Function::Declared { function, .. } => {
                let params = function.params.iter().map(|param| &param.name);
                params.map(|name| (name.text.clone(), name.span)).collect()
            }
        };
        let each = trial.takes.iter().enumerate().map(|(at, ty)| {
            let (name, span) =
                names.get(at).cloned().unwrap_or_else(|| (format!("value{at}"), trial.span));
            let origin = Rc::new(if at == 0 { points.clone() } else { Origin::default() });
            Variable { name, ty: ty.clone(), of: None, origin, span }
        });
        each.collect()
    }
}
