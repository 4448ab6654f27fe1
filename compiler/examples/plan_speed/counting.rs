//! The allocator of the binary, with a count of what it gave and of what is held.
#![expect(
    unsafe_code,
    reason = "the trait of allocators is unsafe; every call goes to the binary's"
)]

use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static MADE: AtomicUsize = AtomicUsize::new(0);

/// Bytes that are held now.
pub(crate) fn live_bytes() -> usize {
    LIVE.load(Relaxed)
}

/// How often memory has been asked for.
pub(crate) fn allocations() -> usize {
    MADE.load(Relaxed)
}

/// An allocator that counts.
pub(crate) struct Counting;

// SAFETY: every call is handed to the binary's allocator as it came; counting touches nothing else.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Relaxed);
        MADE.fetch_add(1, Relaxed);
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { MiMalloc.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the pointer came from `alloc` or `realloc`, which are the binary's.
        unsafe { MiMalloc.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LIVE.fetch_add(size, Relaxed);
        LIVE.fetch_sub(layout.size(), Relaxed);
        MADE.fetch_add(1, Relaxed);
        // SAFETY: as for `dealloc`; the caller keeps the promises of `realloc`.
        unsafe { MiMalloc.realloc(pointer, layout, size) }
    }
}
