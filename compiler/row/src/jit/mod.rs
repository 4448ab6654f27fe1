//! Kernels: a graph compiled by Cranelift to one loop over whole columns, two rows at a time.
//!
//! A kernel gives the bits that the interpreter gives, and is never needed: where a graph is too large, the machine
//! is none that Cranelift serves, or memory cannot be made executable, the interpreter does the work.

mod call;
mod emit;
mod layout;
mod nanos;
mod numbers;
mod outside;
#[cfg(test)]
mod tests;

pub(crate) use call::{Code as Kernel, Form, Place, Source, Target};
pub(crate) use layout::{Input, Layout, form};

use crate::graph::{Graph, Node, Step};
use crate::ir::{Scalar, Ty};
use call::{Gives, LANES, release};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    AbiParam, BlockArg, Endianness, Function, InstBuilder, MemFlagsData, Value, types,
};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITMemoryProvider, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError};
use emit::{Data, Emitter, NUMBERS, Pair, WIDE};
use outside::Outside;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The most nodes of a kernel: compiling takes longer than in proportion to them.
const MOST_NODES: usize = 1_000;

/// Memory for machine code other than the system's own, for tests.
pub(crate) type Memory = Box<dyn JITMemoryProvider + Send>;

/// A function in Cranelift's form, before it is machine code.
struct Draft {
    module: JITModule,
    context: cranelift_codegen::Context,
    sources: Vec<Form>,
    gives: Vec<Gives>,
}

/// Compiles a layout of a graph. `None` where the interpreter has to do.
pub(crate) fn compile(
    graph: &Graph<'_>,
    layout: &Layout,
    memory: Option<Memory>,
) -> Option<Kernel> {
    let Draft { mut module, mut context, sources, gives } = draft(graph, layout, memory)?;
    match finish(&mut module, &mut context) {
        Ok(kernel) => Some(Kernel::new(module, kernel, sources, gives)),
        Err(error) => {
            release(module);
            let ours = matches!(*error, ModuleError::Compilation(_));
            debug_assert!(!ours, "the emitter wrote what Cranelift refuses: {error:?}");
            None
        }
    }
}

fn finish(
    module: &mut JITModule,
    context: &mut cranelift_codegen::Context,
) -> Result<FuncId, Box<ModuleError>> {
    let kernel = module.declare_function("kernel", Linkage::Export, &context.func.signature)?;
    module.define_function(kernel, context)?;
    module.finalize_definitions()?;
    Ok(kernel)
}

/// How registers are given out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Registers {
    /// Well: loops run up to twice as fast.
    Well,
    /// In a third to a half of the time, for kernels that spend theirs in calls.
    Quickly,
}

impl Registers {
    fn of(graph: &Graph<'_>, layout: &Layout) -> Self {
        let mut nodes = layout.nodes.iter().filter_map(|place| graph.nodes.get(*place));
        if nodes.any(Node::calls_outside) { Self::Quickly } else { Self::Well }
    }
}

/// The machine at hand, when Cranelift serves it.
fn machine(registers: Registers) -> Option<&'static OwnedTargetIsa> {
    static WELL: OnceLock<Option<OwnedTargetIsa>> = OnceLock::new();
    static QUICKLY: OnceLock<Option<OwnedTargetIsa>> = OnceLock::new();
    let (known, algorithm) = match registers {
        Registers::Well => (&WELL, "backtracking"),
        Registers::Quickly => (&QUICKLY, "single_pass"),
    };
    let find = || {
        let mut flags = settings::builder();
        let verify = if cfg!(debug_assertions) { "true" } else { "false" };
        for (name, value) in [
            ("opt_level", "none"),
            ("regalloc_algorithm", algorithm),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            ("unwind_info", "false"),
            ("enable_verifier", verify),
        ] {
            flags.set(name, value).ok()?;
        }
        let machine = cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()?;
        // Without SSE 4.2, rounding would call the C library and comparing integers take many steps.
        let flags = machine.isa_flags();
        let wide = flags.iter().find(|flag| flag.name == "has_sse42");
        let serves = machine.pointer_bytes() == 8
            && machine.endianness() == Endianness::Little
            && wide.is_none_or(|flag| flag.as_bool() == Some(true));
        serves.then_some(machine)
    };
    known.get_or_init(find).as_ref()
}

fn draft(graph: &Graph<'_>, layout: &Layout, memory: Option<Memory>) -> Option<Draft> {
    if layout.nodes.len() > MOST_NODES || layout.outputs.is_empty() {
        return None;
    }
    let machine = machine(Registers::of(graph, layout))?.clone();
    let mut builder = JITBuilder::with_isa(machine, cranelift_module::default_libcall_names());
    for outside in Outside::ALL {
        builder.symbol(outside.name(), outside.address());
    }
    if let Some(memory) = memory {
        builder.memory_provider(memory);
    }
    let mut module = JITModule::new(builder);
    let mut context = module.make_context();
    let forms = function(&mut context.func, &mut module, graph, layout);
    let Some((sources, gives)) = forms else {
        release(module);
        return None;
    };
    Some(Draft { module, context, sources, gives })
}

/// Where the values of an input or output start, and their presence.
#[derive(Clone, Copy)]
struct Start {
    values: Value,
    valid: Option<Value>,
}

/// Writes the kernel: `fn(sources, targets, rows)`.
fn function(
    function: &mut Function,
    module: &mut JITModule,
    graph: &Graph<'_>,
    layout: &Layout,
) -> Option<(Vec<Form>, Vec<Gives>)> {
    let frontend = module.target_config();
    function.signature.params.extend([AbiParam::new(types::I64); 3]);
    let mut shared = FunctionBuilderContext::new();
    let mut code = FunctionBuilder::new(function, &mut shared);
    let (entry, body, end) = (code.create_block(), code.create_block(), code.create_block());
    code.append_block_params_for_function_params(entry);
    code.append_block_param(body, types::I64);
    code.switch_to_block(entry);
    let &[sources, targets, rows] = code.block_params(entry) else { return None };
    let mut forms = Vec::new();
    let mut inputs = Vec::new();
    for input in &layout.inputs {
        let values = pointer(&mut code, sources, forms.len());
        forms.push(input.form);
        let valid = input.optional.then(|| pointer(&mut code, sources, forms.len()));
        forms.extend(valid.map(|_| Form::Truth));
        inputs.push((input, Start { values, valid }));
    }
    // Two pointers for each; the second is null where no presence is given, and then not used.
    let outputs: Vec<Start> = (0..layout.outputs.len())
        .map(|number| Start {
            values: pointer(&mut code, targets, number * 2),
            valid: Some(pointer(&mut code, targets, number * 2 + 1)),
        })
        .collect();
    let zero = code.ins().iconst(types::I64, 0);
    code.ins().jump(body, &[BlockArg::Value(zero)]);

    code.switch_to_block(body);
    let &[row] = code.block_params(body) else { return None };
    let mut emitter = Emitter { code: &mut code, module, outsides: BTreeMap::new(), both: None };
    let gives = emitter.rows(graph, layout, &inputs, &outputs, row)?;
    let next = code.ins().iadd_imm_u(row, i64::try_from(LANES).ok()?);
    let more = code.ins().icmp(IntCC::UnsignedLessThan, next, rows);
    code.ins().brif(more, body, &[BlockArg::Value(next)], end, &[]);

    code.switch_to_block(end);
    code.ins().return_(&[]);
    code.seal_all_blocks();
    code.finalize(frontend);
    Some((forms, gives))
}

/// Pointer number `place` of a list of pointers.
fn pointer(code: &mut FunctionBuilder<'_>, list: Value, place: usize) -> Value {
    let offset = i32::try_from(place * 8).unwrap_or(i32::MAX);
    code.ins().load(types::I64, memory(), list, offset)
}

/// Memory that is there: the caller checked it. Not aligned, since rows start anywhere.
fn memory() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

impl Emitter<'_, '_> {
    /// Loads, computes and stores two rows from `row` on.
    fn rows(
        &mut self,
        graph: &Graph<'_>,
        layout: &Layout,
        inputs: &[(&Input, Start)],
        outputs: &[Start],
        row: Value,
    ) -> Option<Vec<Gives>> {
        let wide = self.code.ins().ishl_imm_u(row, 3);
        let mut pairs: Vec<Option<Pair>> = vec![None; graph.nodes.len()];
        for (input, place) in inputs {
            let valid = place.valid.map(|valid| self.load_mask(valid, row));
            let data = match input.form {
                Form::Truth => Data::Truth(self.load_mask(place.values, row)),
                Form::Number => Data::Number(self.load(NUMBERS, place.values, wide)),
                Form::Nanos => Data::Nanos(self.load(WIDE, place.values, wide)),
            };
            *pairs.get_mut(input.node)? = Some(Pair { data, valid });
        }
        for place in &layout.nodes {
            let node = graph.nodes.get(*place)?;
            if node.ty.is_none() {
                *pairs.get_mut(*place)? = Some(Pair::nothing());
                continue;
            }
            let operands: Option<Vec<Pair>> =
                node.reads.iter().map(|read| pairs.get(*read).copied().flatten()).collect();
            let known: Vec<Option<f64>> =
                node.reads.iter().map(|read| known_number(graph.nodes.get(*read)?)).collect();
            *pairs.get_mut(*place)? = Some(self.node(node, &operands?, &known)?);
        }
        let mut gives = Vec::new();
        for (number, start) in layout.outputs.iter().zip(outputs) {
            let output = graph.outputs.get(*number)?;
            let pair = pairs.get(output.node).copied().flatten()?;
            gives.push(self.give(pair, output.ty, *start, (row, wide))?);
        }
        Some(gives)
    }

    /// Stores two rows of an output in the form that columns have.
    fn give(
        &mut self,
        pair: Pair,
        ty: Ty,
        start: Start,
        (row, wide): (Value, Value),
    ) -> Option<Gives> {
        let form = form(ty);
        let valid = (!pair.is_whole()).then(|| self.presence(pair));
        let values = start.values;
        match (form, pair.data) {
            (Form::Number, Data::Number(value)) => {
                let value = if ty == Ty::Float { self.one_nan(value) } else { value };
                let bits = self.bits(value);
                let bits = self.clear(bits, valid);
                self.store(bits, values, wide);
            }
            (Form::Nanos, Data::Nanos(value)) => {
                let value = self.clear(value, valid);
                self.store(value, values, wide);
            }
            (Form::Truth, Data::Truth(mask)) => {
                let mask = self.clear(mask, valid);
                self.store_mask(mask, values, row);
            }
            (Form::Number | Form::Nanos, Data::Nothing) => {
                let zero = self.nanos(0);
                self.store(zero, values, wide);
            }
            (Form::Truth, Data::Nothing) => {
                let zero = self.mask(false);
                self.store_mask(zero, values, row);
            }
            _ => return None,
        }
        if let Some(valid) = valid {
            self.store_mask(valid, start.valid?, row);
        }
        Some(Gives { form, optional: valid.is_some() })
    }

    fn one_nan(&mut self, value: Value) -> Value {
        let nan = self.number(f64::NAN);
        let is_nan = self.code.ins().fcmp(FloatCC::Unordered, value, value);
        self.choose_number(is_nan, nan, value)
    }

    fn clear(&mut self, bits: Value, valid: Option<Value>) -> Value {
        match valid {
            Some(valid) => self.and(bits, valid),
            None => bits,
        }
    }

    fn load(&mut self, ty: types::Type, start: Value, offset: Value) -> Value {
        let address = self.code.ins().iadd(start, offset);
        self.code.ins().load(ty, memory(), address, 0)
    }

    fn store(&mut self, bits: Value, start: Value, offset: Value) {
        let address = self.code.ins().iadd(start, offset);
        self.code.ins().store(memory(), bits, address, 0);
    }

    /// Two bytes, 0 or 1, as a mask: each lane keeps the bit of its own byte and asks whether it is set.
    fn load_mask(&mut self, start: Value, row: Value) -> Value {
        let address = self.code.ins().iadd(start, row);
        let bytes = self.code.ins().uload16(types::I64, memory(), address, 0);
        let spread = self.code.ins().splat(WIDE, bytes);
        let own = self.vector(WIDE, [1_u64.to_le_bytes(), 0x100_u64.to_le_bytes()]);
        let kept = self.and(spread, own);
        self.code.ins().icmp(IntCC::Equal, kept, own)
    }

    /// A mask as two bytes, 0 or 1. Of two bits `b` and `a` the product with `1000_0001` has `a` at bit 0 and `b`
    /// at bit 8.
    fn store_mask(&mut self, mask: Value, start: Value, row: Value) {
        let bits = self.code.ins().vhigh_bits(types::I32, mask);
        let spread = self.code.ins().imul_imm_u(bits, 0x81);
        let bytes = self.code.ins().band_imm_u(spread, 0x101);
        let address = self.code.ins().iadd(start, row);
        self.code.ins().istore16(memory(), bytes, address, 0);
    }
}

#[expect(clippy::cast_precision_loss, reason = "checked against 2^53 with the graph")]
fn known_number(node: &Node<'_>) -> Option<f64> {
    match node.step {
        Step::Constant(Scalar::Float(value)) => Some(*value),
        Step::Constant(Scalar::Int(value) | Scalar::Size(value)) => Some(*value as f64),
        _ => None,
    }
}
