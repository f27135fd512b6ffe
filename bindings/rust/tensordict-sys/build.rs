//! Finds libtensordict and makes programs, tests and doctests of dependents find it too.
//!
//! Cargo adds a folder to the loader's path at `cargo run` and `cargo test` only when it lies below
//! the target folder, and an rpath emitted here would not reach dependents. So the library is linked
//! into OUT_DIR, and that is the folder named to the linker.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Libraries that may lie beside ours and are found through its own folder (`$ORIGIN`).
const SIBLINGS: [&str; 6] = ["tensordict", "torch", "c10", "gomp", "cudart", "nvToolsExt"];

const HOW_TO_GET_IT: &str =
    "libtensordict was not found. It is a C library, which this crate does not build.
  Debian, Ubuntu    apt-get install libtensordict-dev, from the project's packages
  elsewhere         unpack tensordict-VERSION-linux-MACHINE.tar.xz, run its ./install.sh,
                    and set TENSORDICT_DIR to that folder (or to the prefix it was given)
  a checkout        meson setup build && ninja -C build
It is looked for in this order:
  1. TENSORDICT_LIB_DIR, the folder that holds LIBRARY
  2. TENSORDICT_DIR, a prefix: LIBRARY lies in its lib, lib64 or lib/MACHINE-linux-gnu
  3. pkg-config --variable=libdir tensordict
  4. build*/capi of the checkout that this crate lies in";

fn main() {
    println!("cargo:rerun-if-env-changed=TENSORDICT_LIB_DIR");
    println!("cargo:rerun-if-env-changed=TENSORDICT_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    let found =
        from_environment().or_else(from_prefix).or_else(from_pkg_config).or_else(from_build_folder);
    let Some(dir) = found else {
        eprintln!("{}", HOW_TO_GET_IT.replace("LIBRARY", library_name()));
        std::process::exit(1);
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    link_into(&dir, &out);
    println!("cargo:rerun-if-changed={}", dir.join(library_name()).display());
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=dylib=tensordict");
    // Dependents read this as DEP_TENSORDICT_LIBDIR, to set an rpath of their own.
    println!("cargo:libdir={}", dir.display());
}

/// What the linker looks for on the target system.
fn library_name() -> &'static str {
    match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("windows") => "tensordict.lib",
        Ok("macos") => "libtensordict.dylib",
        _ => "libtensordict.so",
    }
}

fn from_environment() -> Option<PathBuf> {
    let dir = PathBuf::from(env::var_os("TENSORDICT_LIB_DIR")?);
    if !dir.join(library_name()).exists() {
        eprintln!("TENSORDICT_LIB_DIR is {}, which holds no {}", dir.display(), library_name());
        std::process::exit(1);
    }
    dir.canonicalize().ok()
}

/// Below a prefix, or the folder of an unpacked tarball.
fn from_prefix() -> Option<PathBuf> {
    let prefix = PathBuf::from(env::var_os("TENSORDICT_DIR")?);
    let machine = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    let multiarch = format!("lib/{machine}-linux-gnu");
    let found = ["lib", "lib64", &multiarch]
        .iter()
        .map(|name| prefix.join(name))
        .find(|dir| dir.join(library_name()).exists());
    if found.is_none() {
        eprintln!(
            "TENSORDICT_DIR is {}, which has no {} in lib, lib64 or {multiarch}",
            prefix.display(),
            library_name()
        );
        std::process::exit(1);
    }
    found.and_then(|dir| dir.canonicalize().ok())
}

fn from_pkg_config() -> Option<PathBuf> {
    let output = Command::new("pkg-config")
        .args(["--variable=libdir", "tensordict"])
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let dir = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    dir.join(library_name()).exists().then_some(dir)
}

/// The youngest library in a `build*` folder of the checkout that this crate lies in.
fn from_build_folder() -> Option<PathBuf> {
    let root = Path::new(&env::var_os("CARGO_MANIFEST_DIR")?).join("../../..");
    let age = |dir: &PathBuf| -> Option<SystemTime> {
        fs::metadata(dir.join(library_name())).ok()?.modified().ok()
    };
    fs::read_dir(root)
        .ok()?
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("build"))
        .map(|entry| entry.path().join("capi"))
        .filter(|dir| age(dir).is_some())
        .max_by_key(|dir| age(dir))
        .and_then(|dir| dir.canonicalize().ok())
}

fn link_into(dir: &Path, out: &Path) {
    let entries = fs::read_dir(dir).unwrap_or_else(|why| panic!("{}: {why}", dir.display()));
    for entry in entries.flatten() {
        let name = entry.file_name();
        // The tarball's library finds libtorch by way of the folder "tensordict" beside it.
        let own_torch = cfg!(unix) && name == "tensordict" && entry.path().is_dir();
        let library = wanted(&name.to_string_lossy()) && entry.path().is_file();
        if !own_torch && !library {
            continue;
        }
        let link = out.join(&name);
        let _ = fs::remove_file(&link);
        place(&entry.path(), &link)
            .unwrap_or_else(|why| panic!("{} -> {}: {why}", link.display(), dir.display()));
    }
}

fn wanted(name: &str) -> bool {
    let stem = name.strip_prefix("lib").unwrap_or(name);
    let library = [".so", ".dylib", ".dll", ".lib"].iter().any(|part| name.contains(part));
    library && !name.ends_with(".p") && SIBLINGS.iter().any(|known| stem.starts_with(known))
}

#[cfg(unix)]
fn place(file: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(file, link)
}

#[cfg(not(unix))]
fn place(file: &Path, link: &Path) -> std::io::Result<()> {
    fs::copy(file, link).map(drop)
}
