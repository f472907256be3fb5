#!/usr/bin/env bash
# The Debian package: both programs, the preload objects, manual pages, completions, and the C library with its header. `cargo deb`
# builds it if that is installed, else dpkg-deb, from the same list in crates/cli/Cargo.toml; then it is unpacked into an empty
# folder and tried there. With a folder as its argument the package is left in it. With PACKAGE_PROGRAMS=debug it holds the programs
# that `cargo test` has built: all is tried in seconds instead of minutes, and the package is nothing to ship.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in dpkg-deb cc; do
    if ! command -v "$tool" >/dev/null; then
        echo "SKIPPED: Debian package: no $tool"
        exit 0
    fi
done
kept="${1:-}"
programs="${PACKAGE_PROGRAMS:-release}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
made="$target/release/deb"
crate="crates/cli"
# A key of a table of a manifest: key_of FILE TABLE KEY.
key_of() {
    sed -n '/^\['"$2"'\]$/,/^\[/s/^'"$3"' = "\(.*\)"$/\1/p' "$1"
}
deb() {
    key_of "$crate/Cargo.toml" package.metadata.deb "$1"
}
version="$(key_of Cargo.toml workspace.package version)"
architecture="$(dpkg --print-architecture)"
library_folder="/usr/lib/$(cc -print-multiarch 2>/dev/null || true)"
library_folder="${library_folder%/}"
package="$work/$(deb name)_${version}_$architecture.deb"

# --- build what the list names -----------------------------------------------------------------------------------------------
shims=(omp pthread mpi)
packages=(corecast-cli corecast-bench-cli "${shims[@]/#/corecast-shim-}")
case "$programs" in
release) options=(--release "${packages[@]/#/--package=}") shim_folder="$target/release" library=c-library compression=(-Zxz) ;;
debug) options=(--workspace --tests) shim_folder="$target/debug/deps" library=test compression=(-Zgzip -z1) ;;
*) echo "PACKAGE_PROGRAMS is '$programs', not release or debug" >&2 && exit 2 ;;
esac
cargo build "${options[@]}"
rm -rf "$made"
install -d "$made"
make --silent --directory crates/capi install CARGO_TARGET_DIR="$target" DESTDIR="$made/root" PREFIX=/usr LIBDIR="$library_folder" \
    PROFILE="$library"
# Where `corecast run --shim` looks for them.
objects="$made/root/usr/lib/corecast"
install -d "$objects"
for shim in "${shims[@]}"; do
    install -m 644 "$shim_folder/libcorecast_$shim.so" "$objects"
done
strip --strip-unneeded "$made/root$library_folder"/libcorecast.so.*.* "$objects"/*.so
"$target/$programs/corecast" man --all "$made/manual"
gzip -9n "$made/manual"/*.1
cat LICENSE-MIT LICENSE-APACHE >"$made/copyright"

# --- package -----------------------------------------------------------------------------------------------------------------
# Source, destination and mode of each asset, one a line.
assets() {
    sed -n '/^\[package.metadata.deb\]$/,/^\[/s/^    \["\(.*\)", "\(.*\)", "\(.*\)"\],$/\1 \2 \3/p' "$crate/Cargo.toml"
}
# Installs a file as `cargo deb` does: below the destination if that ends in /, links as links.
put() {
    local to="$root/$2"
    [ "${2%/}" = "$2" ] || to="$to$(basename "$1")"
    install -d "$(dirname "$to")"
    if [ -L "$1" ]; then cp --no-dereference "$1" "$to"; else install -m "$3" "$1" "$to"; fi
}
by_dpkg() {
    local root="$work/root" source to mode base file
    install -d "$root/DEBIAN"
    while read -r source to mode; do
        case "$source" in
        target/release/deb/*) source="$target/${source#target/}" ;;
        target/release/*) source="$target/$programs/${source#target/release/}" ;;
        *) source="$crate/$source" ;;
        esac
        case "$source" in
        *'/**/*')
            base="${source%'/**/*'}"
            while read -r file; do
                put "$base/$file" "$to$(dirname "$file")/" "$mode"
            done < <(cd "$base" && find . -type f -o -type l)
            ;;
        # The shell finds the files of a pattern.
        *) for file in $source; do put "$file" "$to" "$mode"; done ;;
        esac
    done < <(assets)
    cat >"$root/DEBIAN/control" <<CONTROL
Package: $(deb name)
Version: $version
Architecture: $architecture
Maintainer: $(deb maintainer)
Section: $(deb section)
Priority: $(deb priority)
Depends: $(deb depends)
Installed-Size: $(du --summarize --block-size=1024 "$root/usr" | cut --fields=1)
Homepage: $(key_of Cargo.toml workspace.package repository)
Description: $(key_of "$crate/Cargo.toml" package description)
$(deb extended-description | fold --spaces --width=76 | sed 's/^/ /; s/ *$//')
CONTROL
    install -m 644 "$crate/$(deb triggers-file)" "$root/DEBIAN/triggers"
    dpkg-deb --build --root-owner-group "${compression[@]}" "$root" "$package"
}
if [ "$programs" = release ] && cargo deb --version >/dev/null 2>&1; then
    cargo deb --package corecast-cli --no-build --output "$package"
else
    by_dpkg
fi

# --- unpack and try ----------------------------------------------------------------------------------------------------------
installed="$work/installed"
dpkg-deb --extract "$package" "$installed"
dpkg-deb --info "$package" >"$work/info"
for line in "Package: corecast" "Version: $version" "Depends: libc6, libgcc-s1"; do
    grep --quiet --line-regexp --fixed-strings " $line" "$work/info"
done
"$installed/usr/bin/corecast" --version | tee "$work/version"
grep --quiet --fixed-strings "$version" "$work/version"
"$installed/usr/bin/corecast" topo >/dev/null
"$installed/usr/bin/corecast" bench --help >/dev/null
gzip --test "$installed"/usr/share/man/man1/*.gz
for program in corecast corecast-bench; do
    for page in "$program" "$program-man" "$program-completions"; do
        test -s "$installed/usr/share/man/man1/$page.1.gz"
    done
    bash -n "$installed/usr/share/bash-completion/completions/$program"
    test -s "$installed/usr/share/zsh/vendor-completions/_$program"
    test -s "$installed/usr/share/fish/vendor_completions.d/$program.fish"
done
test -s "$installed/usr/share/man/man1/corecast-bench-locks.1.gz"
for file in README.md CHANGELOG.md; do
    test -s "$installed/usr/share/doc/corecast/$file" || test -s "$installed/usr/share/doc/corecast/$file.gz"
done
grep --quiet "Permission is hereby granted" "$installed/usr/share/doc/corecast/copyright"
lib="$installed$library_folder"
test -L "$lib/libcorecast.so"
cc -std=c11 -Wall -Werror -pthread crates/capi/examples/region.c -o "$work/region" "-I$installed/usr/include" "-L$lib" -lcorecast
LD_LIBRARY_PATH="$lib" timeout 60 "$work/region" | tail -n 1 | grep '^in the shop: 1, this process$'
grep --quiet "^libdir=$library_folder$" "$lib/pkgconfig/corecast.pc"
# `corecast run` finds the objects, and the loader takes them.
LD_LIBRARY_PATH="$lib" timeout 60 "$installed/usr/bin/corecast" run --shim omp,barrier,lock,mpi --shim-stats -- "$work/region" \
    >"$work/region.output" 2>"$work/region.statistics"
tail -n 1 "$work/region.output" | grep '^in the shop: 1, this process$'
grep --quiet '^corecast pthread: ' "$work/region.statistics"

[ -z "$kept" ] || install -m 644 "$package" "$kept"
echo "package: $(basename "$package"), $(du --apparent-size --block-size=1024 "$package" | cut --fields=1) KiB, passed"
