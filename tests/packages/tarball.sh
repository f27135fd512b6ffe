# shellcheck shell=bash disable=SC2154
# Sourced by tests/packages/run.

# ---- tarball: in its own folder, then below a prefix; libtorch is told once ---------------------------------------
test_tarball() {
  local archive tree home=$scratch/home torch libdir
  archive=$(newest "tensordict-*-linux-*.tar.xz")
  torch=$(libtorch_of_build)
  mkdir -p "$home"
  try "the tarball unpacks" tar -C "$home" -xf "$archive" || return
  tree=$home/$(basename "$archive" .tar.xz)
  libdir=$(cd "$tree" && find lib -name libtensordict.so -printf '%h')
  try "tdtool shows a recording, with no libtorch" uses_tdtool "$tree/bin/tdtool"
  # A build folder that was packed as it is (--build) keeps its paths.
  [ "$libdir" != lib ] || try "no file of it names the build folder" no_path_in "$tree" "${torch:-$root}"
  [ -z "$torch" ] || ln -s "$torch" "$home/libtorch" # beside it, as an unpacked zip
  try "install.sh finds libtorch beside it" says "the library loads" "$tree/install.sh"
  try "C, pkg-config, in place" tarball_c "$tree"
  try "install.sh --prefix" says "the library loads" "$tree/install.sh" --prefix "$home/local"
  rm -rf "$tree"
  try "C, pkg-config" tarball_c "$home/local"
  try "C++ with libtorch, pkg-config" tarball_torch "$home/local"
  try "CMake" tarball_cmake "$home/local"
  try "tdtool verifies what C saved" "$home/local/bin/tdtool" verify "$scratch/c-$(basename "$home/local")/first"
  echo "of another program" >"$home/local/share/mine"
  try "uninstall" "$home/local/share/tensordict/install.sh" --uninstall
  try "leaves what is not its own, and nothing else" \
    test "$(cd "$home/local" && find . -mindepth 1 | sort | tr '\n' ' ')" = "./share ./share/mine "
  tarball_bare
}
# Below the home folder of a plain user in a bare root, with a C compiler and the packages that hold the libraries it names.
tarball_bare() {
  local needed
  needed=$(tarball_needs)
  try "a bare root" bare_root || return
  as_root cp -r "$archive" "$recording" "$root/examples/c/first.txt" "$bare/tmp"
  if [ -n "$torch" ]; then
    as_root mkdir "$bare/libtorch" && as_root mount --bind "$torch" "$bare/libtorch" || return
  fi
  try "a plain user" in_bare useradd -m plain
  try "apt-get update" in_bare apt-get update "${update[@]}" || return
  # shellcheck disable=SC2086
  try "apt-get install" in_bare apt-get install -y --no-install-recommends gcc libc6-dev pkg-config xz-utils $needed || return
  try "install.sh --prefix ~/.local there" says "the library loads" as_plain sh -ec \
    'cd; tar -xf /tmp/tensordict-*.tar.xz; LIBTORCH=$1 tensordict-*/install.sh --prefix ~/.local; rm -r tensordict-*' sh "${torch:+/libtorch}"
  try "tdtool show there" as_plain sh -ec '"$HOME/.local/bin/tdtool" show /tmp/basic'
  try "a program in C there" as_plain sh -ec 'cd; export PKG_CONFIG_PATH=$(echo ~/.local/$1/pkgconfig); mkdir work; cd work
    cp ~/.local/share/doc/tensordict/examples/* .
    cc -std=c99 -Wall -Werror first.c -o program $(pkg-config --cflags --libs tensordict) -Wl,-rpath,$HOME/.local/$1
    ./program >said; grep -v "^# \[" /tmp/first.txt | diff - said; ~/.local/bin/tdtool verify first' sh "$libdir"
  try "uninstall there" as_plain sh -ec '"$HOME/.local/share/tensordict/install.sh" --uninstall; [ ! -e ~/.local/bin ]'
}
# The packages of this system's libraries that the files of the tarball are linked with.
tarball_needs() {
  local unpacked=$scratch/needs file
  mkdir "$unpacked" && tar -C "$unpacked" --strip-components=1 -xf "$archive"
  for file in "$unpacked/bin/tdtool" "$unpacked/libexec/tensordict/tdtool-main" "$unpacked/$libdir"/libtensordict.so; do
    objdump -p "$file" | sed -n 's/^ *NEEDED *//p' | grep -v '^libtensordict' | while IFS= read -r name; do
      # The loader may name a file by way of /lib, and its package by way of /usr/lib, or the other way round.
      file_of=$(ldd "$file" | awk -v name="$name" '$1 == name && $3 ~ "^/" {print $3}')
      [ -z "$file_of" ] || dpkg -S "$file_of" "/usr$file_of" "${file_of#/usr}" 2>/dev/null
    done
  done | sed 's/:.*//' | sort -u
  rm -r "$unpacked"
}
no_path_in() { # TREE PATH
  ! grep -rlaF -e "$root" -e "$work" -e "$2" "$1"
}
# shellcheck disable=SC2046
tarball_c() ( # PREFIX
  local folder
  folder=$scratch/c-$(basename "$1")
  mkdir -p "$folder" && cp "$1"/share/doc/tensordict/examples/* "$folder" && cd "$folder" &&
    export PKG_CONFIG_PATH=$1/$libdir/pkgconfig &&
    cc -std=c99 -Wall -Werror first.c -o first-program $(pkg-config --cflags --libs tensordict) "-Wl,-rpath,$1/$libdir" &&
    ./first-program >said && diff <(grep -v '^# \[' "$root/examples/c/first.txt") said
)
# shellcheck disable=SC2046
tarball_torch() ( # PREFIX
  local standard=c++17
  grep -q 'VERSION_MAJOR 2' "$1/$libdir"/tensordict/libtorch/include/torch/csrc/api/include/torch/version.h 2>/dev/null && standard=c++20
  export PKG_CONFIG_PATH=$1/$libdir/pkgconfig
  c++ -std=$standard -w "$root/examples/cpp/torch_host.cpp" -o "$scratch/torch_host" \
    $(pkg-config --cflags --libs tensordict-torch) "-Wl,-rpath,$1/$libdir" && cd "$scratch" && ./torch_host
)
# shellcheck disable=SC2046
tarball_cmake() ( # PREFIX
  mkdir -p "$scratch/cmake" && cp "$root"/examples/c/{first.c,must.h} "$scratch/cmake" && cd "$scratch/cmake" &&
    printf '%s\n' 'cmake_minimum_required(VERSION 3.13)' 'project(program C)' 'find_package(TensorDict REQUIRED)' \
      'add_executable(program first.c)' 'target_link_libraries(program TensorDict::tensordict)' >CMakeLists.txt &&
    cmake -S . -B build "-DCMAKE_PREFIX_PATH=$1" && cmake --build build && ./build/program
)
