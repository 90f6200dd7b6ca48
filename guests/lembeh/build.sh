#!/bin/bash
# Builds the example guests into crates/embed/tests/lembeh_guests and writes down what they were built from. Needs the
# toolchain of guests/toolchain.sh.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
to=$here/../../crates/embed/tests/lembeh_guests
while IFS== read -r name value; do export "$name=$value"; done < <("$here/../toolchain.sh" env)
export CARGO_ENCODED_RUSTFLAGS="--remap-path-prefix=$here=/guests/lembeh"
cd "$here"
mkdir -p "$to"
for guest in probe filter view; do
  cargo rustc --release --quiet --target wasm32-wasip1 --bin "$guest" -- -Clink-self-contained=no
  cp "target/wasm32-wasip1/release/$guest.wasm" "$to/$guest.wasm"
done
# The same list as the test `the_example_guests_are_built_from_these_sources` makes.
sources() { (cd "$here" && LC_ALL=C ls Cargo.toml build.rs src/*.rs src/bin/*.rs | LC_ALL=C sort | while read -r file; do sha256sum "$file"; done | sha256sum | cut -d' ' -f1); }
{
  echo '{'
  echo "  \"sources_sha256\": \"$(sources)\","
  echo "  \"toolchain\": \"$("$RUSTC" --version)\","
  sep=''
  echo '  "guests": {'
  for guest in filter probe view; do
    printf '%s    "%s": "%s"' "$sep" "$guest" "$(sha256sum "$to/$guest.wasm" | cut -d' ' -f1)"
    sep=$',\n'
  done
  printf '\n  }\n}\n'
} > "$to/guests.lock.json"
