# shellcheck shell=bash disable=SC2034
# Shared by the scripts of this repository: messages, logged steps, packages. To be sourced by bash.

if [ -t 1 ]; then
  bold=$'\033[1m' dim=$'\033[2m' green=$'\033[32m' red=$'\033[31m' yellow=$'\033[33m' plain=$'\033[0m'
else
  bold='' dim='' green='' red='' yellow='' plain=''
fi

say() { printf '%s\n' "$*"; }
heading() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Words of a usage comment: the block of `#` lines that follows the first line of a script.
usage() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; }
wrong_option() {
  printf '%s: no option "%s"\n\n' "${0##*/}" "$1" >&2
  usage >&2
  exit 2
}

# Compilations of libtorch's headers take over 1 GiB each, so memory bounds the number as cores do.
jobs_here() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 1572864)}' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  [ "$cores" -le "$memory" ] && echo "$cores" || echo "$memory"
}

# step LOG TEXT COMMAND...: runs with output in LOG, one line on the screen, the tail on failure. A
# function that is run so must join its commands with &&: `set -e` does not reach inside.
step() {
  local log=$1 text=$2 start=$SECONDS status pid
  shift 2
  mkdir -p "$(dirname "$log")"
  printf '  %-44s' "$text"
  if [ -t 1 ]; then
    "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
      printf '\r  %-44s%s%4d s%s' "$text" "$dim" $((SECONDS - start)) "$plain"
      sleep 0.5
    done
    wait "$pid" && status=0 || status=$?
    printf '\r  %-44s' "$text"
  else
    "$@" >"$log" 2>&1 </dev/null && status=0 || status=$?
  fi
  if [ "$status" -eq 0 ]; then
    printf '%s%4d s%s\n' "$dim" $((SECONDS - start)) "$plain"
    return 0
  fi
  printf '%sfailed%s\n' "$red" "$plain"
  printf '\nThe last lines of %s:\n' "$log" >&2
  tail -n 25 "$log" | sed 's/^/    /' >&2
  return "$status"
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1; then
    sudo "$@"
  else
    return 126
  fi
}

# The mirror of Debian that this system uses already, so that a site's own mirror is respected.
debian_mirror() {
  local uri
  uri=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' 2>/dev/null |
    awk '$2 == "Debian" && $3 == "Debian" {print $1; exit}')
  echo "${uri:-http://deb.debian.org/debian}"
}

have_package() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Languages beside C and C++. `missing_X` prints why X cannot be used here, and nothing if it can.
missing_rust() { command -v cargo >/dev/null 2>&1 || echo "no cargo, and no package of it"; }
missing_csharp() {
  local version
  version=$(dotnet --version 2>/dev/null </dev/null) || true
  case "$version" in
    [1-9][0-9].*) ;;
    '') echo "no dotnet on the PATH; Debian has none, see https://dotnet.microsoft.com" ;;
    *) echo "dotnet $version is too old, 10 is needed" ;;
  esac
}
missing_julia() { # BUILD
  local log=$1/julia-get.log
  mkdir -p "$1"
  tools/julia-get "$1/julia" >"$log" 2>&1 && return 0
  tail -n 1 "$log" | sed 's/^julia-get: //'
}

# Of the current folder: names of what git tracks or would track; in a copy without git, of all but what is built.
source_files() {
  if [ -e .git ]; then
    git ls-files -z --cached --others --exclude-standard
  else
    find . '(' -path './build*' -o -path ./dist ')' -prune -o -type f -print0 -o -type l -print0
  fi
}

# Of meson.build, in the current folder.
project_version() { sed -n "s/^ *version: '\([0-9.]*\)',$/\1/p" meson.build | head -n 1; }
project_homepage() { sed -n "s/^homepage = '\(.*\)'$/\1/p" meson.build; }

# configure BUILD OPTION...: a new build folder, or other options for one that is there.
configure() {
  local build=$1
  shift
  if [ -f "$build/build.ninja" ]; then
    meson configure "$build" "$@"
  else
    meson setup "$build" "$@"
  fi
}
