# shellcheck shell=bash disable=SC2154
# Sourced by tests/packages/run.

# ---- wheel, npm: from the file alone -------------------------------------------------------------------------------
test_wheel() {
  python3 -m venv "$scratch/venv"
  try "pip install --no-index" "$scratch/venv/bin/pip" install --no-index "$dist"/tdtool-*.whl || return
  try "tdtool shows a recording" uses_tdtool "$scratch/venv/bin/tdtool"
  if [ -e "$scratch/venv/libexec/tensordict/tdtool-main" ]; then
    wheel_computes "$scratch/venv"
  else
    try "what needs the library says so" says "needs the library" fails "$scratch/venv/bin/tdtool" verify "$recording"
    try "its version says so" says "without the library" "$scratch/venv/bin/tdtool" --version
  fi
  try "it is linked with the C library alone" c_library_alone "$scratch/venv/bin/tdtool"
  try "pip uninstall" "$scratch/venv/bin/pip" uninstall -y tdtool && try "leaves nothing" is_missing "$scratch/venv"/{bin/tdtool,libexec/tensordict/tdtool-main}
  # The system's own pip where there is nothing else.
  try "a bare root" bare_root || return
  as_root cp "$dist"/tdtool-*.whl "$bare/tmp" && as_root cp -r "$recording" "$bare/tmp/recording"
  try "with Python" in_bare sh -ec "apt-get update; apt-get install -y --no-install-recommends python3-venv" || return
  try "pip install there" in_bare sh -ec "python3 -m venv /venv; /venv/bin/pip install --no-index /tmp/tdtool-*.whl" &&
    try "tdtool there" in_bare /venv/bin/tdtool show /tmp/recording
}
# A folder that looks like pip's torch stands in for it: no network is needed.
wheel_computes() { # ENVIRONMENT
  local tdtool=$1/bin/tdtool libtorch torch version
  libtorch=$(libtorch_of_build)
  torch=$(echo "$1"/lib/python3*/site-packages)/torch
  version=$(cat "$1/libexec/tensordict/torch-version")
  try "what computes says which torch it needs" says "pip install torch==$version" fails "$tdtool" verify "$recording"
  mkdir "$torch" && echo "__version__ = '1.0.2+cpu'" >"$torch/version.py" && ln -s "$libtorch"/lib "$torch/lib"
  try "and which one it found" says "torch is 1.0.2" fails "$tdtool" verify "$recording"
  echo "__version__ = '$version+cpu'" >"$torch/version.py"
  try "beside that torch it verifies" says "fine" "$tdtool" verify "$recording"
  try "and converts" "$tdtool" convert "$recording" "$scratch/converted.safetensors" && try "what tdtool shows" "$tdtool" show "$scratch/converted.safetensors"
  rm -r "$torch"
  try "LIBTORCH names another folder" says "fine" env "LIBTORCH=$libtorch" "$tdtool" verify "$recording"
}
c_library_alone() { # PROGRAM
  ! ldd "$1" | grep -vE 'linux-vdso|ld-linux|lib(c|m|pthread|dl)\.so'
}
test_npm() {
  mkdir -p "$scratch/npm"
  try "npm install" npm install --offline --no-audit --no-fund --prefix "$scratch/npm" "$dist"/tdtool-*.tgz || return
  try "tdtool shows a recording" uses_tdtool "$scratch/npm/node_modules/.bin/tdtool"
}

# ---- julia: added and tested alone, in a depot of its own, without a network -------------------------------------------
test_julia() {
  local julia=$work/../julia package=$scratch/TensorDicts torch
  torch=$(libtorch_of_build)
  export JULIA_DEPOT_PATH=$scratch/depot: JULIA_PKG_SERVER=""
  unset TENSORDICT_LIBRARY
  # A depot without a registry would fetch one.
  mkdir -p "$scratch/depot/registries/None" "$scratch/project"
  printf '%s\n' 'name = "None"' 'uuid = "00000000-0000-4000-8000-000000000000"' 'repo = ""' '[packages]' \
    >"$scratch/depot/registries/None/Registry.toml"
  try "a Julia" tools/julia-get "$julia" || return
  try "the package unpacks" tar -C "$scratch" -xf "$(find "$dist" -name 'TensorDicts-*-linux-*.tar.xz' | sort -V | tail -n 1)" || return
  [ -z "$torch" ] || { mkdir "$package/artifact/lib/tensordict" && ln -s "$torch" "$package/artifact/lib/tensordict/libtorch"; }
  in_julia() { "$julia/bin/julia" --startup-file=no "--project=$scratch/project" -e "using Pkg; Pkg.offline(true); $1"; }
  local answer='using TensorDicts; println(TensorDicts.library_path())'
  try "Pkg.develop(path)" in_julia "Pkg.develop(path=\"$package\")" || return
  try "it finds the library beside it" says "$package/artifact/lib/libtensordict.so" in_julia "$answer"
  try "Pkg.test" says "6      6" in_julia 'Pkg.test("TensorDicts")'
  printf '[TensorDicts]\nlibrary = "%s"\n' "$scratch/other.so" >"$scratch/project/LocalPreferences.toml"
  try "a preference names a library that is not there" says "other.so" fails in_julia "$answer"
  cp -R "$package/artifact/lib/." "$scratch" && mv "$scratch/libtensordict.so" "$scratch/other.so"
  try "and one that is" says "$scratch/other.so" in_julia "$answer"
  rm "$scratch/project/LocalPreferences.toml"
  try "a repository of it" repository_of "$package" || return
  try "Pkg.add(path)" in_julia "Pkg.rm(\"TensorDicts\"); Pkg.add(path=\"$package\")" &&
    try "it finds the library there" says "$scratch/depot/packages/TensorDicts" in_julia "$answer"
}
fails() { ! "$@"; }
repository_of() { # FOLDER
  git -C "$1" init -q && git -C "$1" add -A && git -C "$1" -c user.name=x -c user.email=x@x.invalid commit -qm "As it is packed"
}

# ---- crates: unpacked, with a program outside, beside the library of the tarball, or of the build ---------------------
test_crates() {
  local prefix=$scratch/prefix archive torch
  mkdir -p "$scratch/program/src" "$prefix/lib"
  for crate in "$dist"/tensordict{,-sys}-[0-9]*.crate; do
    try "$(basename "$crate") unpacks" tar -C "$scratch" -xf "$crate" || return
  done
  mv "$scratch"/tensordict-sys-[0-9]* "$scratch/sys" && mv "$scratch"/tensordict-[0-9]* "$scratch/tensordict"
  sed -n '/^```rust/,/^```$/{//!p}' "$scratch/tensordict/README.md" >"$scratch/program/src/main.rs"
  printf '%s\n' '[package]' 'name = "program"' 'version = "0.1.0"' 'edition = "2021"' '[dependencies]' \
    'tensordict = { path = "../tensordict" }' '[patch.crates-io]' 'tensordict-sys = { path = "../sys" }' >"$scratch/program/Cargo.toml"
  try "without the library it says how to get it" says "apt-get install libtensordict-dev" crates_fail
  try "docs.rs builds without the library" crates_docs
  archive=$(newest "tensordict-*-linux-*.tar.xz")
  if [ -n "$archive" ]; then
    torch=$(libtorch_of_build)
    try "the library of $(basename "$archive")" says "the library loads" crates_library "$archive" "$torch"
  else
    echo "skipped the library of a tarball: $dist holds no such file, so that of the build is used"
    ln -s "$work"/../capi/libtensordict* "$prefix/lib"
  fi
  try "TENSORDICT_DIR names the prefix" says "observation" crates_run "$prefix"
  try "a prefix without a library is named" says "which has no libtensordict.so" crates_wrong
}
crates_library() { # TARBALL LIBTORCH
  rm -r "${prefix:?}/lib" && tar -C "$prefix" --strip-components=1 -xf "$1" && LIBTORCH=$2 "$prefix/install.sh"
}
crates_run() { # PREFIX
  (cd "$scratch/program" && TENSORDICT_DIR=$1 cargo run --offline --quiet)
}
crates_fail() {
  ! (cd "$scratch/program" && env -u TENSORDICT_DIR -u TENSORDICT_LIB_DIR PKG_CONFIG_LIBDIR=/nowhere cargo build --offline --quiet) 2>&1
}
crates_wrong() {
  ! crates_run "$scratch/program" 2>&1
}
crates_docs() {
  (cd "$scratch/program" && DOCS_RS=1 PKG_CONFIG_LIBDIR=/nowhere cargo doc --offline --quiet -p tensordict --no-deps)
}
