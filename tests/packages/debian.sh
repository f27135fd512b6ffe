# shellcheck shell=bash disable=SC2154
# Sourced by tests/packages/run.

# ---- apt: one line for sources.list, in each release that the repository serves --------------------------------------
test_apt() {
  # With a key of its own, so that a signature is tested, too.
  local signed=$scratch/apt codename
  cp -R "$dist/apt" "$signed" && try "a key" throwaway_key && try "the repository is signed" packaging/apt/sign "$signed" throwaway || return
  for codename in "$signed"/dists/*; do
    apt_release "$(basename "$codename")"
  done
}
apt_release() { # CODENAME: also of the bare root
  local codename=$1 release=$signed/dists/$1/Release extra="" name
  try "a bare root of $codename" bare_root || return
  as_root mkdir -p "$bare/repository"
  apt_unsigned "$codename" || return
  try "gpgv: Release.gpg" gpgv --keyring "$signed/tensordict.gpg" "$release.gpg" "$release"
  try "gpgv: InRelease" gpgv --keyring "$signed/tensordict.gpg" "$signed/dists/$codename/InRelease"
  as_root mount --bind "$signed" "$bare/repository"
  echo "deb [signed-by=/repository/tensordict.gpg] file:/repository $codename main" |
    as_root tee "$bare/etc/apt/sources.list.d/tensordict.list" >/dev/null
  try "apt-get update" in_bare apt-get update "${update[@]}" || return
  sed -i 's/^Origin: TensorDict/Origin: Another/' "$signed/dists/$codename/InRelease"
  try "a Release that was changed is refused" says "signature" is_refused
  packaging/apt/sign "$signed" throwaway && in_bare apt-get update "${update[@]}" >/dev/null 2>&1
  ! in_bare apt-cache show tensordict-arrow >/dev/null 2>&1 || extra="tensordict-arrow tensordict-video"
  # shellcheck disable=SC2086
  try "apt-get install tdtool libtensordict-dev $extra" in_bare apt-get install -y --no-install-recommends tdtool libtensordict-dev \
    libtensordict-doc $extra gcc g++ libc6-dev pkg-config cmake make || return
  autopkgtests_and_purge
}
apt_unsigned() { # CODENAME: a folder without a signature is taken by [trusted=yes] alone
  local list=$bare/etc/apt/sources.list.d/tensordict.list
  as_root cp -R "$dist/apt" "$bare/unsigned" && as_root rm -f "$bare/unsigned/dists/$1"/{InRelease,Release.gpg}
  echo "deb file:/unsigned $1 main" | as_root tee "$list" >/dev/null
  try "a folder without a signature is refused" says "not signed" is_refused
  echo "deb [trusted=yes] file:/unsigned $1 main" | as_root tee "$list" >/dev/null
  try "apt-get update with [trusted=yes]" in_bare apt-get update "${update[@]}" || return
  try "apt-get install tdtool from it" in_bare apt-get install -y --no-install-recommends tdtool && try "tdtool --version" in_bare tdtool --version &&
    in_bare apt-get purge -y tdtool 'libtensordict*' >/dev/null 2>&1
  as_root rm -rf "$bare/unsigned" "$list"
}
autopkgtests_and_purge() { # those of packaging/debian/tests, with what is installed, which then goes; $extra names packages beyond the library
  local name
  for name in tdtool c cmake ${extra:+arrow video} cpp; do
    # What C++ needs comes last, so that the others are tried without.
    [ "$name" != cpp ] || try "apt-get install libtorch-dev" in_bare apt-get install -y --no-install-recommends libtorch-dev
    as_root cp "packaging/debian/tests/$name" "$bare/tmp"
    try "autopkgtest $name" in_bare "/tmp/$name"
  done
  try "apt-get purge" in_bare sh -ec "apt-get purge -y tdtool 'libtensordict*' $extra"'; ! ls -d /usr/*/tensordict /usr/*/*/tensordict 2>/dev/null'
}
# A mirror may lag some days behind a release that moves.
update=(-o Acquire::Check-Valid-Until=false --error-on=any)
# The files themselves, of each release that they are for. What an older version left there is left alone.
test_deb() {
  local codename
  for codename in $(find "$dist" -maxdepth 1 -name 'tdtool_*.deb' | sed -n 's/.*~\([a-z]*\)1_.*/\1/p' | sort -u); do
    deb_release "$codename"
  done
}
deb_release() { # CODENAME
  local codename=$1 extra="" version file
  version=$(newest "tdtool_*~${codename}1_*.deb" | sed 's/.*tdtool_\(.*\)_[^_]*$/\1/')
  try "a bare root of $codename" bare_root || return
  as_root mkdir "$bare/debs"
  for file in "$dist"/*_"$version"_*.deb; do
    case $file in *-dbgsym_*) ;; *) as_root cp "$file" "$bare/debs" ;; esac
  done
  [ ! -e "$(echo "$bare"/debs/tensordict-arrow_*.deb)" ] || extra="tensordict-arrow tensordict-video"
  try "apt-get update" in_bare apt-get update "${update[@]}" || return
  try "apt-get install tdtool alone" in_bare sh -ec 'apt-get install -y --no-install-recommends /debs/tdtool_*.deb /debs/libtensordict2_*.deb' &&
    as_root cp packaging/debian/tests/tdtool "$bare/tmp" && try "autopkgtest tdtool alone" in_bare /tmp/tdtool
  try "apt-get install ./*.deb" in_bare sh -ec 'apt-get install -y --no-install-recommends /debs/*.deb gcc g++ libc6-dev pkg-config cmake make' || return
  autopkgtests_and_purge
}
throwaway_key() {
  export GNUPGHOME=$scratch/gnupg
  mkdir -m 700 "$GNUPGHOME" && gpg --batch --passphrase "" --quick-generate-key throwaway ed25519 sign never
}
is_refused() { ! in_bare apt-get update "${update[@]}"; }
