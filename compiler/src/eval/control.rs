//! Blocks and lambdas.

use super::value::Function;
use super::{Evaluator, Scope, Typed, Value};
use crate::types::{FunctionType, Type};
use pipe_grammar::ast::{Block, ItemKind, Name};
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    /// A lambda is a value; it is looked into when it is called.
    pub(super) fn lambda(params: &'a [Name], body: &'a Block, scope: &Scope<'a>) -> Typed<'a> {
        let function = Function::Lambda { params, body, scope: scope.clone() };
        let ty = FunctionType { params: vec![Type::Error; params.len()], result: Type::Error };
        Typed { ty: Type::Function(Rc::new(ty)), value: Value::Function(Rc::new(function)) }
    }

    /// `{ let a = 1  a + 1 }`.
    pub(super) fn block(&mut self, block: &'a Block, scope: &Scope<'a>) -> Typed<'a> {
        let mut inner = scope.clone();
        for item in &block.lets {
            let ItemKind::Let(binding) = &item.kind else { continue };
            let value = self.inner_let(item, binding, &inner);
            inner = inner.with(&binding.name.text, value);
        }
        self.expr(&block.value, &inner)
    }
}
