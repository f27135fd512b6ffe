//! Lets the program find the library when it is run without cargo.

// [rpath]
fn main() {
    if let Ok(dir) = std::env::var("DEP_TENSORDICT_LIBDIR") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{dir}");
    }
}
// [/rpath]
