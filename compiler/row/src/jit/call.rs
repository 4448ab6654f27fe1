//! The one place with `unsafe`: memory that holds a kernel, and the call into it.
//!
//! What makes the call sound: the emitter loads and stores only through the pointers of this call, at the rows
//! below the count of this call, with the width of the form that [`Code`] lists for that pointer; [`Code::run`]
//! checks forms and lengths before it calls. The code has no instruction that traps, no loop but the one over
//! the rows, and calls only the functions of [`super::outside`], which neither panic nor unwind.

#![expect(unsafe_code, reason = "machine code can be entered in no other way")]

use cranelift_jit::JITModule;
use cranelift_module::FuncId;
use std::sync::{Mutex, PoisonError};

/// Rows that a kernel computes at a time.
pub(super) const LANES: usize = 2;

/// How values lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Eight bytes, a float.
    Number,
    /// One byte, 0 or 1.
    Truth,
    /// Eight bytes, an integer.
    Nanos,
}

/// Values that a kernel reads.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Number(&'a [f64]),
    Truth(&'a [bool]),
    Nanos(&'a [i64]),
}

/// Values that a kernel adds to.
pub(crate) enum Target<'a> {
    Number(&'a mut Vec<f64>),
    Truth(&'a mut Vec<bool>),
    Nanos(&'a mut Vec<i64>),
}

/// Values that a kernel adds to, and their presence where it gives that too.
pub(crate) struct Place<'a> {
    pub(crate) values: Target<'a>,
    pub(crate) valid: Option<&'a mut Vec<bool>>,
}

/// How a kernel gives an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gives {
    pub(crate) form: Form,
    /// Whether presence is written beside the values, since rows may be missing.
    pub(crate) optional: bool,
}

/// Pointers to the sources, two pointers for each target (the second null where it gives no presence), how many
/// rows: a multiple of [`LANES`], and not zero.
type Entry = unsafe extern "C" fn(*const *const u8, *const *mut u8, usize);

/// Machine code that computes whole columns, with the memory that holds it.
pub(crate) struct Code {
    entry: Entry,
    sources: Vec<Form>,
    targets: Vec<Gives>,
    /// Kept for its memory alone; behind a lock, since it is no type to be shared.
    module: Mutex<Option<JITModule>>,
}

impl Code {
    /// Takes over a module whose function `kernel` reads and writes these forms, in this order.
    pub(super) fn new(
        module: JITModule,
        kernel: FuncId,
        sources: Vec<Form>,
        targets: Vec<Gives>,
    ) -> Self {
        let address = module.get_finalized_function(kernel);
        // SAFETY: the emitter gave this function the signature of `Entry` in the C convention of this machine,
        // and its memory stays mapped until `module` is dropped with `self`.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
        Self { entry, sources, targets, module: Mutex::new(Some(module)) }
    }

    /// What it gives, in order.
    pub(crate) fn gives(&self) -> &[Gives] {
        &self.targets
    }

    /// Adds `rows` rows to the targets. False, and nothing is added, unless forms and lengths fit and there are at
    /// least [`LANES`] rows.
    #[must_use]
    pub(crate) fn run(
        &self,
        sources: &[Source<'_>],
        targets: &mut [Place<'_>],
        rows: usize,
    ) -> bool {
        let fits = rows >= LANES
            && sources.len() == self.sources.len()
            && targets.len() == self.targets.len()
            && sources
                .iter()
                .zip(&self.sources)
                .all(|(s, form)| s.form() == *form && s.len() >= rows)
            && targets.iter().zip(&self.targets).all(|(place, gives)| place.fits(*gives));
        if !fits {
            return false;
        }
        targets.iter_mut().for_each(|place| place.reserve(rows));
        // Two rows at a time; where one is left over, the last two once more.
        let even = rows - rows % LANES;
        self.enter(sources, targets, 0, even);
        if even < rows {
            self.enter(sources, targets, rows - LANES, LANES);
        }
        // SAFETY: every target has room for `rows` more values, and the calls wrote each of them: rows below
        // `even`, and the last two.
        targets.iter_mut().for_each(|place| unsafe { place.grow(rows) });
        true
    }

    fn enter(&self, sources: &[Source<'_>], targets: &mut [Place<'_>], from: usize, count: usize) {
        let sources: Vec<*const u8> = sources.iter().map(|source| source.address(from)).collect();
        let targets: Vec<*mut u8> =
            targets.iter_mut().flat_map(|place| place.addresses(from)).collect();
        // SAFETY: `run` checked that every source has the form that the code expects and holds at least
        // `from + count` values, and made room for as many more in every target; `count` is a positive multiple of
        // `LANES`. The targets are borrowed mutably, so nothing else reads or writes them, and truth values are
        // written as 0 or 1 only.
        unsafe { (self.entry)(sources.as_ptr(), targets.as_ptr(), count) }
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        let module = self.module.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(module) = module {
            release(module);
        }
    }
}

/// Gives back the memory of a module, which would else stay mapped to the end of the process.
pub(super) fn release(module: JITModule) {
    // SAFETY: `entry` is private to `Code`, called only through `&Code` and never handed out, so no call runs
    // and none can follow when `Code` is dropped; a module that never became `Code` was never called.
    unsafe { module.free_memory() }
}

impl Source<'_> {
    fn form(&self) -> Form {
        match self {
            Self::Number(_) => Form::Number,
            Self::Truth(_) => Form::Truth,
            Self::Nanos(_) => Form::Nanos,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Number(values) => values.len(),
            Self::Truth(values) => values.len(),
            Self::Nanos(values) => values.len(),
        }
    }

    /// Where the values from place `from` on lie; `from` is at most the length.
    fn address(&self, from: usize) -> *const u8 {
        match self {
            Self::Number(values) => values.get(from..).unwrap_or_default().as_ptr().cast(),
            Self::Truth(values) => values.get(from..).unwrap_or_default().as_ptr().cast(),
            Self::Nanos(values) => values.get(from..).unwrap_or_default().as_ptr().cast(),
        }
    }
}

impl Place<'_> {
    fn fits(&self, gives: Gives) -> bool {
        self.values.form() == gives.form && self.valid.is_some() == gives.optional
    }

    fn reserve(&mut self, rows: usize) {
        match &mut self.values {
            Target::Number(values) => values.reserve(rows),
            Target::Truth(values) => values.reserve(rows),
            Target::Nanos(values) => values.reserve(rows),
        }
        if let Some(valid) = &mut self.valid {
            valid.reserve(rows);
        }
    }

    /// Where the new values from number `from` on lie; `from` is at most what was reserved.
    fn addresses(&mut self, from: usize) -> [*mut u8; 2] {
        let values = match &mut self.values {
            Target::Number(values) => room(values, from),
            Target::Truth(values) => room(values, from),
            Target::Nanos(values) => room(values, from),
        };
        let valid =
            self.valid.as_deref_mut().map_or(std::ptr::null_mut(), |valid| room(valid, from));
        [values, valid]
    }

    /// Takes `rows` more values as written.
    ///
    /// # Safety
    /// There is room for them, and they are written.
    unsafe fn grow(&mut self, rows: usize) {
        // SAFETY: the promise of the caller.
        unsafe {
            match &mut self.values {
                Target::Number(values) => values.set_len(values.len() + rows),
                Target::Truth(values) => values.set_len(values.len() + rows),
                Target::Nanos(values) => values.set_len(values.len() + rows),
            }
            if let Some(valid) = &mut self.valid {
                valid.set_len(valid.len() + rows);
            }
        }
    }
}

/// Where the new values from number `from` on lie; `from` is at most what was reserved.
fn room<T>(values: &mut Vec<T>, from: usize) -> *mut u8 {
    values.spare_capacity_mut().get_mut(from..).unwrap_or_default().as_mut_ptr().cast()
}

impl Target<'_> {
    fn form(&self) -> Form {
        match self {
            Self::Number(_) => Form::Number,
            Self::Truth(_) => Form::Truth,
            Self::Nanos(_) => Form::Nanos,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_stay_within_what_there_is() {
        let numbers = [1.0, 2.0, 3.0];
        let source = Source::Number(&numbers);
        assert_eq!(source.address(1), numbers[1..].as_ptr().cast());
        assert_eq!((source.form(), source.len()), (Form::Number, 3));
        assert_eq!(Source::Truth(&[true]).form(), Form::Truth);
        let mut values: Vec<f64> = Vec::with_capacity(8);
        values.push(1.0);
        let end: *mut u8 = values[1..].as_mut_ptr().cast();
        let mut place = Place { values: Target::Number(&mut values), valid: None };
        assert_eq!(place.addresses(0), [end, std::ptr::null_mut()]);
        assert_eq!(place.addresses(2)[0], end.wrapping_add(16));
    }
}
