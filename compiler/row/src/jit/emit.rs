//! Nodes of a graph as instructions over two rows at once, each with the meaning that the interpreter gives it.
//!
//! A truth value and a presence are masks: all bits set or none. Nothing emitted can trap: no integer is divided,
//! conversions saturate, and memory is touched only through the pointers of the call.

use super::outside::Outside;
use crate::graph::{Node, Step};
use crate::infix::{Compare, Infix};
use crate::ir::{Function, Scalar, Ty, UnaryOp};
use crate::lane::constant;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    ConstantData, Endianness, FuncRef, InstBuilder, MemFlagsData, StackSlot, StackSlotData,
    StackSlotKind, Type, Value, types,
};
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::JITModule;
use cranelift_module::{Linkage, Module};
use std::collections::BTreeMap;

pub(super) const NUMBERS: Type = types::F64X2;
pub(super) const WIDE: Type = types::I64X2;

/// Two rows of a node.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) data: Data,
    /// Which are present; both where there is no mask.
    pub(super) valid: Option<Value>,
}

/// The values of two rows. Those of missing rows are arbitrary.
#[derive(Clone, Copy)]
pub(super) enum Data {
    /// Missing, of no type yet.
    Nothing,
    Number(Value),
    Truth(Value),
    Nanos(Value),
}

impl Pair {
    pub(super) fn nothing() -> Self {
        Self { data: Data::Nothing, valid: None }
    }

    pub(super) fn is_whole(self) -> bool {
        self.valid.is_none() && !matches!(self.data, Data::Nothing)
    }
}

/// Writes instructions of one kernel.
pub(super) struct Emitter<'f, 'b> {
    pub(super) code: &'f mut FunctionBuilder<'b>,
    pub(super) module: &'f mut JITModule,
    pub(super) outsides: BTreeMap<Outside, FuncRef>,
    /// Where functions outside find the values of both rows.
    pub(super) both: Option<StackSlot>,
}

impl Emitter<'_, '_> {
    /// The pair of a node, from those of the nodes that it reads. `known` holds the operands that are constant
    /// numbers.
    pub(super) fn node(
        &mut self,
        node: &Node<'_>,
        operands: &[Pair],
        known: &[Option<f64>],
    ) -> Option<Pair> {
        let first = operands.first().copied();
        let second = operands.get(1).copied();
        Some(match &node.step {
            Step::Column(_) | Step::Concat(_) | Step::Window => return None,
            Step::OfType => first?,
            Step::Constant(value) => self.scalar(value)?,
            Step::Unary(op, ty) => self.unary(*op, *ty, first?)?,
            Step::Binary(None) => Pair::nothing(),
            Step::Binary(Some(infix)) => self.infix(*infix, first?, second?)?,
            Step::If => self.choose_by(first?, second?, operands.get(2).copied()?)?,
            Step::Coalesce => self.coalesce(first?, second?)?,
            Step::IsNone => {
                let present = self.presence(first?);
                Pair { data: Data::Truth(self.not(present)), valid: None }
            }
            Step::In(members) => {
                let pair = first?;
                let found = self.member(members, pair.data)?;
                if members.has_none() {
                    let present = self.presence(pair);
                    let missing = self.not(present);
                    Pair { data: Data::Truth(self.or(found, missing)), valid: None }
                } else {
                    let valid = (!pair.is_whole()).then(|| self.presence(pair));
                    Pair { data: Data::Truth(found), valid }
                }
            }
            Step::Call(function) => self.call(*function, operands, known)?,
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "checked against 2^53 with the graph")]
    fn scalar(&mut self, value: &Scalar) -> Option<Pair> {
        let data = match value {
            Scalar::None => return Some(Pair::nothing()),
            Scalar::Float(value) => Data::Number(self.number(constant(*value))),
            Scalar::Int(value) | Scalar::Size(value) => Data::Number(self.number(*value as f64)),
            Scalar::Bool(value) => Data::Truth(self.mask(*value)),
            Scalar::Time(value) | Scalar::Duration(value) => Data::Nanos(self.nanos(*value)),
            Scalar::Str(_) => return None,
        };
        Some(Pair { data, valid: None })
    }

    fn unary(&mut self, op: UnaryOp, ty: Option<Ty>, operand: Pair) -> Option<Pair> {
        let data = match (op, operand.data) {
            (_, Data::Nothing) => Data::Nothing,
            // Whole numbers have one zero.
            (UnaryOp::Negate, Data::Number(value)) if ty == Some(Ty::Int) => {
                let zero = self.number(0.0);
                Data::Number(self.code.ins().fsub(zero, value))
            }
            (UnaryOp::Negate, Data::Number(value)) => Data::Number(self.code.ins().fneg(value)),
            (UnaryOp::Negate, Data::Nanos(value)) => Data::Nanos(self.negate_nanos(value)),
            (UnaryOp::Not, Data::Truth(value)) => Data::Truth(self.not(value)),
            _ => return None,
        };
        Some(Pair { data, valid: operand.valid })
    }

    fn choose_by(&mut self, condition: Pair, first: Pair, second: Pair) -> Option<Pair> {
        let takes = match condition.data {
            Data::Nothing => return Some(Pair::nothing()),
            Data::Truth(mask) => mask,
            _ => return None,
        };
        let valid = if condition.is_whole() && first.is_whole() && second.is_whole() {
            None
        } else {
            let (a, b) = (self.presence(first), self.presence(second));
            let chosen = self.code.ins().bitselect(takes, a, b);
            Some(match condition.valid {
                Some(decided) => self.and(chosen, decided),
                None => chosen,
            })
        };
        Some(Pair { data: self.choose(takes, first.data, second.data)?, valid })
    }

    fn coalesce(&mut self, first: Pair, second: Pair) -> Option<Pair> {
        let here = match (first.data, first.valid) {
            (Data::Nothing, _) => return Some(second),
            (_, None) => return Some(first),
            (_, Some(here)) => here,
        };
        let valid = (!second.is_whole()).then(|| {
            let there = self.presence(second);
            self.or(here, there)
        });
        Some(Pair { data: self.choose(here, first.data, second.data)?, valid })
    }

    fn choose(&mut self, takes: Value, first: Data, second: Data) -> Option<Data> {
        Some(match (first, second) {
            (Data::Nothing, data) | (data, Data::Nothing) => data,
            (Data::Number(a), Data::Number(b)) => Data::Number(self.choose_number(takes, a, b)),
            (Data::Truth(a), Data::Truth(b)) => Data::Truth(self.code.ins().bitselect(takes, a, b)),
            (Data::Nanos(a), Data::Nanos(b)) => Data::Nanos(self.code.ins().bitselect(takes, a, b)),
            _ => return None,
        })
    }

    fn infix(&mut self, infix: Infix, left: Pair, right: Pair) -> Option<Pair> {
        match infix {
            Infix::And => return self.kleene(left, right, false),
            Infix::Or => return self.kleene(left, right, true),
            _ => {}
        }
        let valid = self.both(left.valid, right.valid);
        let pair = match (left.data, right.data) {
            (Data::Nothing, _) | (_, Data::Nothing) => return Some(Pair::nothing()),
            (Data::Number(a), Data::Number(b)) => self.numbers(infix, a, b)?,
            (Data::Nanos(a), Data::Nanos(b)) => self.nanos_infix(infix, a, b)?,
            (Data::Nanos(a), Data::Number(b)) | (Data::Number(b), Data::Nanos(a)) => {
                self.scaled(infix, a, b)?
            }
            (Data::Truth(a), Data::Truth(b)) => {
                let different = self.code.ins().bxor(a, b);
                let data = match infix {
                    Infix::CompareTruth(Compare::Equal) => self.not(different),
                    Infix::CompareTruth(Compare::NotEqual) => different,
                    _ => return None,
                };
                Pair { data: Data::Truth(data), valid: None }
            }
            _ => return None,
        };
        Some(Pair { data: pair.data, valid: self.both(valid, pair.valid) })
    }

    /// Kleene's `and` (`decides` is false) and `or` (`decides` is true).
    fn kleene(&mut self, left: Pair, right: Pair, decides: bool) -> Option<Pair> {
        let truth = |emitter: &mut Self, pair: Pair| match pair.data {
            Data::Truth(mask) => Some(mask),
            Data::Nothing => Some(emitter.mask(false)),
            _ => None,
        };
        if matches!((left.data, right.data), (Data::Nothing, Data::Nothing)) {
            return Some(Pair::nothing());
        }
        let (a, b) = (truth(self, left)?, truth(self, right)?);
        if left.is_whole() && right.is_whole() {
            let data = if decides { self.or(a, b) } else { self.and(a, b) };
            return Some(Pair { data: Data::Truth(data), valid: None });
        }
        let (a_here, b_here) = (self.presence(left), self.presence(right));
        // Where an operand is present and decides.
        let sides = [(a, a_here), (b, b_here)].map(|(value, here)| match decides {
            true => self.and(here, value),
            false => self.code.ins().band_not(here, value),
        });
        let decided = self.or(sides[0], sides[1]);
        let data = if decides { decided } else { self.not(decided) };
        let present = self.and(a_here, b_here);
        Some(Pair { data: Data::Truth(data), valid: Some(self.or(decided, present)) })
    }

    fn call(
        &mut self,
        function: Function,
        arguments: &[Pair],
        known: &[Option<f64>],
    ) -> Option<Pair> {
        if arguments.iter().any(|pair| matches!(pair.data, Data::Nothing)) {
            return Some(Pair::nothing());
        }
        let mut valid = None;
        for pair in arguments {
            valid = self.both(valid, pair.valid);
        }
        let known = |place: usize| known.get(place).copied().flatten();
        let data = match arguments {
            [one] => self.call_one(function, one.data)?,
            [a, b] => self.call_two(function, (a.data, known(0)), (b.data, known(1)))?,
            [x, low, high] if function == Function::Clamp => {
                let raised = self.call_two(Function::Max, (x.data, None), (low.data, known(1)))?;
                self.call_two(Function::Min, (raised, None), (high.data, known(2)))?
            }
            _ => return None,
        };
        Some(Pair { data, valid })
    }

    fn call_one(&mut self, function: Function, data: Data) -> Option<Data> {
        match data {
            Data::Number(value) => self.number_function(function, value),
            Data::Nanos(value) => match function {
                Function::Abs => Some(Data::Nanos(self.absolute_nanos(value))),
                Function::Seconds => {
                    let float = self.code.ins().fcvt_from_sint(NUMBERS, value);
                    let billion = self.number(1e9);
                    Some(Data::Number(self.code.ins().fdiv(float, billion)))
                }
                _ => None,
            },
            Data::Truth(mask) if function == Function::ToFloat => {
                let one = self.number(1.0);
                let one = self.bits(one);
                let value = self.and(mask, one);
                Some(Data::Number(self.floats(value)))
            }
            Data::Truth(_) | Data::Nothing => None,
        }
    }

    fn call_two(
        &mut self,
        function: Function,
        left: (Data, Option<f64>),
        right: (Data, Option<f64>),
    ) -> Option<Data> {
        let minimum = function == Function::Min;
        match (left.0, right.0) {
            (Data::Number(a), Data::Number(b)) => Some(Data::Number(match function {
                Function::Min | Function::Max => self.extreme(minimum, (a, left.1), (b, right.1)),
                Function::Pow => self.each(Outside::Pow, &[a, b])?,
                _ => return None,
            })),
            (Data::Nanos(a), Data::Nanos(b)) => {
                if !matches!(function, Function::Min | Function::Max) {
                    return None;
                }
                let less = self.code.ins().icmp(IntCC::SignedLessThan, a, b);
                let (a, b) = if minimum { (a, b) } else { (b, a) };
                Some(Data::Nanos(self.code.ins().bitselect(less, a, b)))
            }
            _ => None,
        }
    }

    /// Calls a function outside for both rows.
    pub(super) fn each(&mut self, outside: Outside, arguments: &[Value]) -> Option<Value> {
        let function = self.outside(outside)?;
        if let (true, [both]) = (outside.takes_both(), arguments) {
            let slot = *self.both.get_or_insert_with(|| {
                // Two values of eight bytes, at a multiple of sixteen.
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 16, 4);
                self.code.create_sized_stack_slot(data)
            });
            let address = self.code.ins().stack_addr(types::I64, slot, 0);
            let memory = MemFlagsData::trusted();
            self.code.ins().store(memory, *both, address, 0);
            self.code.ins().call(function, &[address]);
            return Some(self.code.ins().load(NUMBERS, memory, address, 0));
        }
        let mut lanes = [Value::from_u32(0); 2];
        for (lane, result) in (0_u8..).zip(&mut lanes) {
            let values: Vec<Value> =
                arguments.iter().map(|value| self.code.ins().extractlane(*value, lane)).collect();
            let call = self.code.ins().call(function, &values);
            *result = *self.code.inst_results(call).first()?;
        }
        let ty = if outside == Outside::DivideNanos { WIDE } else { NUMBERS };
        Some(self.join(ty, lanes))
    }

    /// Two values as the lanes of one.
    pub(super) fn join(&mut self, ty: Type, lanes: [Value; 2]) -> Value {
        let low = self.code.ins().scalar_to_vector(ty, lanes[0]);
        self.code.ins().insertlane(low, lanes[1], 1)
    }

    fn outside(&mut self, outside: Outside) -> Option<FuncRef> {
        if let Some(known) = self.outsides.get(&outside) {
            return Some(*known);
        }
        let signature = outside.signature(self.module.target_config().default_call_conv);
        let declared =
            self.module.declare_function(outside.name(), Linkage::Import, &signature).ok()?;
        let function = self.module.declare_func_in_func(declared, self.code.func);
        self.outsides.insert(outside, function);
        Some(function)
    }

    /// Where a pair is present.
    pub(super) fn presence(&mut self, pair: Pair) -> Value {
        match (pair.data, pair.valid) {
            (Data::Nothing, _) => self.mask(false),
            (_, Some(valid)) => valid,
            (_, None) => self.mask(true),
        }
    }

    pub(super) fn both(&mut self, left: Option<Value>, right: Option<Value>) -> Option<Value> {
        match (left, right) {
            (None, valid) | (valid, None) => valid,
            (Some(left), Some(right)) => Some(self.and(left, right)),
        }
    }

    pub(super) fn choose_number(&mut self, takes: Value, a: Value, b: Value) -> Value {
        let takes = self.floats(takes);
        self.code.ins().bitselect(takes, a, b)
    }

    pub(super) fn compare_numbers(&mut self, compare: Compare, a: Value, b: Value) -> Value {
        let condition = match compare {
            Compare::Equal => FloatCC::Equal,
            Compare::NotEqual => FloatCC::NotEqual,
            Compare::Less => FloatCC::LessThan,
            Compare::LessEqual => FloatCC::LessThanOrEqual,
            Compare::Greater => FloatCC::GreaterThan,
            Compare::GreaterEqual => FloatCC::GreaterThanOrEqual,
        };
        self.code.ins().fcmp(condition, a, b)
    }

    pub(super) fn and(&mut self, a: Value, b: Value) -> Value {
        self.code.ins().band(a, b)
    }

    pub(super) fn or(&mut self, a: Value, b: Value) -> Value {
        self.code.ins().bor(a, b)
    }

    pub(super) fn not(&mut self, mask: Value) -> Value {
        self.code.ins().bnot(mask)
    }

    pub(super) fn bits(&mut self, floats: Value) -> Value {
        self.code.ins().bitcast(WIDE, little(), floats)
    }

    pub(super) fn floats(&mut self, bits: Value) -> Value {
        self.code.ins().bitcast(NUMBERS, little(), bits)
    }

    pub(super) fn mask(&mut self, value: bool) -> Value {
        self.nanos(if value { -1 } else { 0 })
    }

    pub(super) fn number(&mut self, value: f64) -> Value {
        self.vector(NUMBERS, [value.to_le_bytes(); 2])
    }

    pub(super) fn nanos(&mut self, value: i64) -> Value {
        self.vector(WIDE, [value.to_le_bytes(); 2])
    }

    pub(super) fn vector(&mut self, ty: Type, lanes: [[u8; 8]; 2]) -> Value {
        let bytes = lanes.concat();
        let constant = self.code.func.dfg.constants.insert(ConstantData::from(&bytes[..]));
        self.code.ins().vconst(ty, constant)
    }
}

fn little() -> MemFlagsData {
    MemFlagsData::new().with_endianness(Endianness::Little)
}
