#!/bin/sh
# Installs this folder, without root, and tells the library where libtorch @TORCH@ is.
#
#   ./install.sh                      uses this folder where it is
#   ./install.sh --prefix FOLDER      copies it below FOLDER, such as ~/.local
#   ./install.sh ... --libtorch FOLDER    FOLDER is pip's torch or the unpacked zip
#   FOLDER/share/tensordict/install.sh --uninstall
#
# Without --libtorch it looks at the variable LIBTORCH, beside this folder (libtorch/), at pip's torch, and last at
# what the system has. tdtool shows, searches and compares recordings without libtorch.
set -eu
torch_version=@TORCH@ libdir=@LIBDIR@
here=$(cd "$(dirname "$0")" && pwd)
prefix='' libtorch=${LIBTORCH-} uninstall=0

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    --prefix) prefix=${2:?--prefix names no folder}; shift ;;
    --prefix=*) prefix=${1#*=} ;;
    --libtorch) libtorch=${2:?--libtorch names no folder}; shift ;;
    --libtorch=*) libtorch=${1#*=} ;;
    --uninstall) uninstall=1 ;;
    *) sed -n '2,/^[^#]/{s/^# \{0,1\}//p;}' "$0"; [ "$1" = --help ] && exit 0; exit 2 ;;
  esac
  shift
done

if [ "$uninstall" -eq 1 ]; then
  list=$here/files.txt
  [ -f "$list" ] || fail "there is no list of installed files beside $0; was it installed with --prefix?"
  cd "$here/../.."
  folders=$(sed 's|/[^/]*$||' "$list" | sort -ur)
  rm -rf $libdir/tensordict/libtorch
  rmdir $libdir/tensordict 2>/dev/null || true
  while IFS= read -r file; do rm -f "./$file"; done <"$list"
  # Folders that are empty now; those that others use stay.
  echo "$folders" | while IFS= read -r folder; do
    while [ "$folder" != . ] && [ -n "$folder" ] && rmdir "./$folder" 2>/dev/null; do
      case $folder in */*) folder=${folder%/*} ;; *) break ;; esac
    done
  done
  echo "uninstalled from $PWD"
  exit
fi

target=$here
if [ -n "$prefix" ]; then
  mkdir -p "$prefix"
  target=$(cd "$prefix" && pwd)
  [ "$target" != "$here" ] || fail "$prefix is this folder; leave out --prefix to use it where it is"
  mkdir -p "$target/share/tensordict"
  (cd "$here" && find bin include lib libexec share \( -path $libdir/tensordict/libtorch -prune \) -o \( -type f -o -type l \) -print) |
    LC_ALL=C sort >"$target/share/tensordict/files.txt"
  (cd "$here" && tar -cf - -T "$target/share/tensordict/files.txt") | (cd "$target" && tar --no-same-owner -xf -)
  cp "$here/README.txt" "$target/share/doc/tensordict/"
  cp "$here/install.sh" "$target/share/tensordict/"
  for file in share/doc/tensordict/README.txt share/tensordict/install.sh share/tensordict/files.txt; do
    echo "$file"
  done >>"$target/share/tensordict/files.txt"
fi

# Links to each library: the loader looks for all of them in one folder. libtorch as pip has it brings an OpenMP under a name
# of its own; by way of this link the library uses the same one, so that a process has one only.
link_libtorch() { # FOLDER
  links=$target/$libdir/tensordict/libtorch
  rm -rf "$links"
  mkdir -p "$links/lib"
  [ ! -d "$1/include" ] || ln -s "$1/include" "$links/include"
  for file in "$1"/lib/*.so*; do ln -s "$file" "$links/lib/"; done
  for file in "$1"/lib/libgomp-*.so.1; do
    [ ! -e "$file" ] || ln -s "$file" "$links/lib/libgomp.so.1"
  done
}

if [ -z "$libtorch" ]; then
  if [ -e "$here/../libtorch/lib/libtorch_cpu.so" ]; then
    libtorch=$here/../libtorch
  else
    libtorch=$(python3 -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])' 2>/dev/null) || true
  fi
fi
if [ -n "$libtorch" ]; then
  [ -e "$libtorch/lib/libtorch_cpu.so" ] || fail "$libtorch holds no lib/libtorch_cpu.so"
  link_libtorch "$(cd "$libtorch" && pwd)"
fi

echo "installed in $target"
# Asked for nothing, it says what it is; that takes all symbols of libtorch.
said=$(LD_BIND_NOW=1 "$target/libexec/tensordict/tdtool-main" 2>&1) || true
if [ "${said#*part of tdtool}" != "$said" ]; then
  echo "  libtorch is found, and the library loads"
else
  echo "  the library does not load: $said" >&2
  echo "  It needs libtorch $torch_version: unpack its zip beside this folder, or name the folder with --libtorch." >&2
  echo "  \"tdtool show\", \"head\", \"grep\", \"stats\" and \"diff\" work without it." >&2
fi
cat <<END
  command:      $target/bin/tdtool
  pkg-config:   export PKG_CONFIG_PATH=$target/$libdir/pkgconfig
  CMake:        -DCMAKE_PREFIX_PATH=$target
  programs find the library by -Wl,-rpath,$target/$libdir or LD_LIBRARY_PATH=$target/$libdir
END
