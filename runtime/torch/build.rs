//! Writes the folder of libtorch into the programs and tests of this crate, so that nobody has to set
//! `LD_LIBRARY_PATH`.

use std::env;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let Ok(folder) = env::var("DEP_TCH_LIBTORCH_LIB") else {
        println!("cargo:warning=the folder of libtorch is unknown; run `make setup` first");
        return;
    };
    let folder = std::path::absolute(Path::new(&folder)).unwrap_or_else(|_| PathBuf::from(&folder));
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder.display());
}
