//! Writes the folder of libtorch into the programs and tests of this crate, so that nobody has to set `LD_LIBRARY_PATH`,
//! and has them load the CUDA half of libtorch at start when it is there (no symbol asks for it, so it must be asked for here).

use std::env;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let Ok(folder) = env::var("DEP_TCH_LIBTORCH_LIB") else {
        println!("cargo:warning=the folder of libtorch is unknown; run `make setup` first");
        return;
    };
    let folder = std::path::absolute(Path::new(&folder)).unwrap_or_else(|_| folder.into());
    println!("cargo:rerun-if-changed={}", folder.display());
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", folder.display());
    if folder.join("libtorch_cuda.so").exists() {
        println!("cargo:rustc-link-arg=-L{}", folder.display());
        for flag in
            ["-Wl,--allow-shlib-undefined", "-Wl,--no-as-needed", "-ltorch_cuda", "-Wl,--as-needed"]
        {
            println!("cargo:rustc-link-arg={flag}");
        }
    }
}
