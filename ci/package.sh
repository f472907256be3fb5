#!/usr/bin/env bash
# The Debian package: both programs, manual pages, completions, and the C library with its header, built by dpkg-deb, unpacked into
# an empty folder and tried there. With a folder as its argument the package is left in it.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in dpkg-deb cc; do
    if ! command -v "$tool" >/dev/null; then
        echo "SKIPPED: Debian package: no $tool"
        exit 0
    fi
done
kept="${1:-}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
root="$work/root"
version="$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)"
architecture="$(dpkg-deb --version >/dev/null && dpkg --print-architecture)"
library_folder="/usr/lib/$(cc -print-multiarch 2>/dev/null || true)"

# --- build and stage ---------------------------------------------------------------------------------------------------------
cargo build --release --package corecast-cli --package corecast-bench-cli
install -d "$root/usr/bin" "$root/usr/share/man/man1" "$root/usr/share/doc/corecast" "$root/DEBIAN"
install -m 755 "$target/release/corecast" "$target/release/corecast-bench" "$root/usr/bin"
make --silent --directory crates/capi install CARGO_TARGET_DIR="$target" DESTDIR="$root" PREFIX=/usr LIBDIR="${library_folder%/}"
strip --strip-unneeded "$root/usr/bin"/* "$root${library_folder%/}"/libcorecast.so.*.*

program="$root/usr/bin/corecast"
"$program" man | gzip -9n >"$root/usr/share/man/man1/corecast.1.gz"
for command in tune topo measure plan explain serve bench cc run top gc list completions man; do
    "$program" man "$command" | gzip -9n >"$root/usr/share/man/man1/corecast-$command.1.gz"
done
complete_for() {
    install -d "$root$(dirname "$2")"
    "$program" completions "$1" >"$root$2"
}
complete_for bash /usr/share/bash-completion/completions/corecast
complete_for zsh /usr/share/zsh/vendor-completions/_corecast
complete_for fish /usr/share/fish/vendor_completions.d/corecast.fish

install -m 644 README.md CHANGELOG.md "$root/usr/share/doc/corecast"
cat LICENSE-MIT LICENSE-APACHE >"$root/usr/share/doc/corecast/copyright"
cat >"$root/DEBIAN/control" <<CONTROL
Package: corecast
Version: $version
Architecture: $architecture
Maintainer: The corecast authors <corecast@localhost>
Section: devel
Priority: optional
Depends: libc6, libgcc-s1
Installed-Size: $(du --summarize --block-size=1024 "$root/usr" | cut --fields=1)
Homepage: $(sed -n 's/^repository = "\(.*\)"/\1/p' Cargo.toml)
Description: channels, locks and collectives planned for the machine
 corecast measures what a message costs between every two cores of a machine
 and plans who talks to whom in which order. The package has its programs, and
 its library with the header for C and C++.
CONTROL
printf '#!/bin/sh\nset -e\n[ "$1" != configure ] || ldconfig\n' >"$root/DEBIAN/postinst"
printf '#!/bin/sh\nset -e\n[ "$1" != remove ] || ldconfig\n' >"$root/DEBIAN/postrm"
chmod 755 "$root/DEBIAN/postinst" "$root/DEBIAN/postrm"
package="$work/corecast_${version}_$architecture.deb"
dpkg-deb --build --root-owner-group -Zxz "$root" "$package"

# --- unpack and try ----------------------------------------------------------------------------------------------------------
installed="$work/installed"
dpkg-deb --extract "$package" "$installed"
dpkg-deb --info "$package" | grep --quiet '^ Package: corecast$'
"$installed/usr/bin/corecast" --version | tee "$work/version"
grep --quiet --fixed-strings "$version" "$work/version"
"$installed/usr/bin/corecast" topo >/dev/null
"$installed/usr/bin/corecast-bench" --help >/dev/null
gzip --test "$installed"/usr/share/man/man1/*.gz
bash -n "$installed/usr/share/bash-completion/completions/corecast"
lib="$installed${library_folder%/}"
cc -std=c11 -Wall -Werror -pthread crates/capi/examples/region.c -o "$work/region" "-I$installed/usr/include" "-L$lib" -lcorecast
LD_LIBRARY_PATH="$lib" timeout 60 "$work/region" | tail -n 1 | grep '^in the shop: 1, this process$'
grep --quiet "^libdir=${library_folder%/}$" "$lib/pkgconfig/corecast.pc"

[ -z "$kept" ] || install -m 644 "$package" "$kept"
echo "package: $(basename "$package"), $(du --apparent-size --block-size=1024 "$package" | cut --fields=1) KiB, passed"
