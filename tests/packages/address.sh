# shellcheck shell=bash disable=SC2154
# Sourced by tests/packages/run.

# ---- address: packages of a copy with a public address name it. Of Debian the sources alone, for a build takes minutes ---
public=https://example.org/x
test_address() {
  local tree=$scratch/named made=$scratch/made version
  version=$(project_version)
  mkdir -p "$tree" "$made" "$scratch/bin" && cp "$(type -P true)" "$scratch/true" # a program to pack
  try "a copy with homepage $public" address_copy || return
  if [ -z "$(missing_rust)" ]; then
    try "crates" in_copy tools/package crates -o "$made" && try "Cargo.toml" address_crates
  fi
  try "wheel" in_copy packaging/wheel/make.py "$scratch/true" "$version" "$made" &&
    try "METADATA" says "Project-URL: Source, $public" unzip -p "$made"/tdtool-*.whl '*/METADATA'
  if command -v npm >/dev/null 2>&1; then
    try "npm" in_copy packaging/npm/make "$scratch/true" "$version" "$made" &&
      try "package.json" says "\"homepage\": \"$public\"" tar -xOf "$made"/tdtool-*.tgz package/package.json
  fi
  if command -v dpkg-buildpackage >/dev/null 2>&1; then
    # In place of the build: what it would be given is there by then.
    printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/dpkg-buildpackage" && chmod +x "$scratch/bin/dpkg-buildpackage"
    fails in_copy tools/package deb -o "$made" >"$scratch/deb.log" 2>&1
    try "debian/control" grep -qx "Homepage: $public" "$scratch"/build/package/deb/*/debian/control
    try "each recipe" address_recipes
  fi
  try "meson setup" in_copy meson setup "$scratch/setup" -Dtests=disabled -Drust=disabled -Djulia=disabled -Dcsharp=disabled \
    -Dlua=disabled -Dswig=disabled -Dmujoco=disabled -Dbench=disabled &&
    try "tensordict.pc" grep -qx "URL: $public" "$scratch/setup/capi/tensordict.pc"
  if [ -z "$(missing_csharp)" ]; then
    try "dotnet pack" in_copy dotnet pack bindings/csharp/src/TensorDict/TensorDict.csproj --nologo -o "$made" \
      --artifacts-path "$scratch/artifacts" "-p:PackageProjectUrl=$public" "-p:RepositoryUrl=$public" &&
      try "nuspec" tests/packages/nupkg.py "$made" "$public" --library-alone
  fi
}
in_copy() {
  (cd "$tree" && PATH=$scratch/bin:$PATH TD_BUILD=$scratch/build address=$public "$@")
}
address_copy() {
  source_files | tar --null --files-from=- --ignore-failed-read -cf - | tar -C "$tree" -xf - &&
    sed -i "s|^homepage = .*|homepage = '$public'|" "$tree/meson.build" && [ "$(cd "$tree" && project_homepage)" = "$public" ]
}
address_crates() {
  local crate
  for crate in tensordict tensordict-sys; do
    tar -xOf "$made/$crate-$version.crate" "$crate-$version/Cargo.toml" >"$scratch/Cargo.toml" &&
      grep -qx "repository = \"$public\"" "$scratch/Cargo.toml" && grep -qx "homepage = \"$public\"" "$scratch/Cargo.toml" &&
      grep -qx "documentation = \"https://docs.rs/$crate\"" "$scratch/Cargo.toml" || return
  done
}
address_recipes() {
  local recipe
  for recipe in vcpkg/vcpkg.json conan/conanfile.py nix/default.nix spack/package.py; do
    grep -qF "$public" "$scratch"/build/package/deb/*/packaging/recipes/"$recipe" || return
  done
}
