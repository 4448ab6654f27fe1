//! What every kernel holds before it is machine code, and what happens where memory is refused.

use super::{Form, Layout, Memory, call::release, compile, draft, machine, outside::Outside};
use crate::choose::{forget_kernels, refuse_memory};
use crate::graph::Graph;
use crate::ir::{ColumnRef, Expr, RowFn, Ty};
use crate::{Column, Engine, Program};
use cranelift_codegen::ir::{
    ExternalName, Function, Inst, InstructionData, Opcode, Value, ValueDef,
};
use cranelift_jit::{BranchProtection, JITMemoryKind, JITMemoryProvider};
use cranelift_module::{ModuleError, ModuleResult};
use proptest::prelude::*;
use std::io;

#[path = "../../tests/sample/mod.rs"]
#[allow(dead_code, reason = "each test program uses a part of this module")]
mod sample;

/// The address is the list of pointers that the caller gave, a pointer of that list and the row's offset, or a slot
/// for two rows.
fn is_bound(function: &Function, address: Value) -> bool {
    let given = |value: Value| match function.dfg.value_def(value) {
        ValueDef::Param(block, _) => Some(block) == function.layout.entry_block(),
        _ => false,
    };
    let listed = |value: Value| match function.dfg.value_def(value) {
        ValueDef::Result(inst, _) => match function.dfg.insts[inst] {
            InstructionData::Load { arg, .. } => given(arg),
            _ => false,
        },
        _ => false,
    };
    match function.dfg.value_def(address) {
        ValueDef::Result(inst, _) => match function.dfg.insts[inst] {
            InstructionData::Binary { opcode: Opcode::Iadd, args } => listed(args[0]),
            InstructionData::StackAddr { stack_slot, offset, .. } => {
                i32::from(offset) == 0 && function.sized_stack_slots[stack_slot].size == 16
            }
            _ => false,
        },
        _ => given(address),
    }
}

/// Why an instruction must not be emitted.
fn fault(function: &Function, inst: Inst) -> Option<&'static str> {
    let data = &function.dfg.insts[inst];
    let opcode = data.opcode();
    match *data {
        InstructionData::Load { flags, arg, .. } => {
            let safe = function.dfg.mem_flags[flags].notrap() && is_bound(function, arg);
            (!safe).then_some("loads what is not bound")
        }
        InstructionData::Store { flags, args, .. } => {
            let safe = function.dfg.mem_flags[flags].notrap() && is_bound(function, args[1]);
            (!safe).then_some("stores where nothing is bound")
        }
        InstructionData::Call { func_ref, .. } => {
            let name = &function.dfg.ext_funcs[func_ref].name;
            let known = matches!(name, ExternalName::User(_));
            (!known || opcode != Opcode::Call).then_some("calls what is not known")
        }
        _ if opcode.can_trap() => Some("traps"),
        _ if opcode.is_call() => Some("calls through a pointer"),
        _ if opcode.can_load() || opcode.can_store() => Some("touches memory in another way"),
        _ => None,
    }
}

proptest! {
    #[test]
    fn no_instruction_traps_or_leaves_the_bound_columns(
        shapes in proptest::collection::vec(
            proptest::collection::vec(any::<u16>(), 0..200), 1..4
        ),
        optional in any::<bool>(),
    ) {
        let functions: Vec<RowFn> = shapes
            .iter()
            .map(|shape| sample::function(&mut sample::Choices::new(shape)))
            .collect();
        let graph = Graph::new(&functions.iter().collect::<Vec<_>>()).unwrap();
        let layout = Layout::of(&graph, &vec![optional; graph.columns.len()]);
        if layout.outputs.is_empty() {
            return Ok(());
        }
        let draft = draft(&graph, &layout, None).unwrap();
        let function = &draft.context.func;
        for block in function.layout.blocks() {
            for inst in function.layout.block_insts(block) {
                let fault = fault(function, inst);
                prop_assert!(fault.is_none(), "{fault:?}: {}", function.dfg.display_inst(inst));
            }
        }
        let outsides = function.dfg.ext_funcs.len();
        prop_assert!(outsides <= Outside::ALL.len());
        release(draft.module);
    }
}

/// Memory that cannot be had, or not be made executable.
struct Refusing {
    system: cranelift_jit::SystemMemoryProvider,
    at_once: bool,
}

impl Refusing {
    fn memory(at_once: bool) -> Memory {
        Box::new(Self { system: cranelift_jit::SystemMemoryProvider::new(), at_once })
    }
}

impl JITMemoryProvider for Refusing {
    fn allocate(&mut self, size: usize, align: u64, kind: JITMemoryKind) -> io::Result<*mut u8> {
        if self.at_once {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        self.system.allocate(size, align, kind)
    }

    #[expect(unsafe_code, reason = "the trait asks for it")]
    unsafe fn free_memory(&mut self) {
        // SAFETY: the caller's promise is that of the method that is called.
        unsafe { self.system.free_memory() }
    }

    fn finalize(&mut self, _: BranchProtection) -> ModuleResult<()> {
        let refused = io::Error::from(io::ErrorKind::PermissionDenied);
        Err(ModuleError::Allocation { err: refused })
    }
}

fn identity() -> RowFn {
    let column = ColumnRef { name: "a".into(), ty: Ty::Float, optional: false };
    RowFn { columns: vec![column], body: Expr::Column(0), ty: Ty::Float, optional: false }
}

#[test]
fn where_memory_is_refused_the_interpreter_serves() {
    let function = identity();
    let graph = Graph::new(&[&function]).unwrap();
    let layout = Layout::of(&graph, &[false]);
    for at_once in [true, false] {
        assert!(compile(&graph, &layout, Some(Refusing::memory(at_once))).is_none());
    }
    let program = Program::new(&[&function]).unwrap();
    let column = Column::float(vec![1.0, f64::NAN, 3.0]);
    forget_kernels();
    refuse_memory(Some(|| Refusing::memory(false)));
    for _ in 0..2 {
        let (results, engine) = program.run_by(Engine::Kernel, &[&column], 3).unwrap();
        assert_eq!(engine, Engine::Interpreter);
        assert_eq!(results, vec![column.clone()]);
        assert_eq!(program.run(&[&column], 3).unwrap(), vec![column.clone()]);
    }
    forget_kernels();
    refuse_memory(None);
    let (results, engine) = program.run_by(Engine::Kernel, &[&column], 3).unwrap();
    assert_eq!(
        engine,
        if machine(super::Registers::Well).is_some() {
            Engine::Kernel
        } else {
            Engine::Interpreter
        }
    );
    assert_eq!(results, vec![column]);
}

#[test]
fn what_does_not_fit_is_not_run() {
    let function = identity();
    let graph = Graph::new(&[&function]).unwrap();
    let kernel = compile(&graph, &Layout::of(&graph, &[false]), None).unwrap();
    let (numbers, truths) = ([1.0, 2.0, 3.0], [true; 3]);
    let run = |source: super::Source<'_>, valid: bool, rows: usize| {
        let (mut out, mut present) = (vec![7.0], vec![false]);
        let valid = valid.then_some(&mut present);
        let place = super::Place { values: super::Target::Number(&mut out), valid };
        kernel.run(&[source], &mut [place], rows).then_some(out)
    };
    assert_eq!(run(super::Source::Number(&numbers), false, 3), Some(vec![7.0, 1.0, 2.0, 3.0]));
    assert_eq!(run(super::Source::Number(&numbers), false, 2), Some(vec![7.0, 1.0, 2.0]));
    assert_eq!(run(super::Source::Number(&numbers), false, 4), None);
    assert_eq!(run(super::Source::Number(&numbers), false, 1), None);
    assert_eq!(run(super::Source::Number(&numbers), true, 3), None);
    assert_eq!(run(super::Source::Truth(&truths), false, 3), None);
    assert_eq!(kernel.gives(), [super::call::Gives { form: Form::Number, optional: false }]);
}
