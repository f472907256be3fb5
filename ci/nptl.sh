#!/usr/bin/env bash
# glibc's own tests of mutexes, condition variables, reader-writer and spin locks, barriers, robust mutexes, `pthread_once` and semaphores,
# with the preload object and without it. Each must end as it does without. Prints, for each lock, how many do, and the ones that do not.
#
# A command of its own and no step of .ci/run: it asks Debian's archive for the sources of the glibc that is installed, and takes some
# ten minutes. Nothing of them stays in the checkout. Names as arguments are the locks to use instead of those below.
# NPTL_SOURCE is a folder with glibc's sources, where there is no archive; CORECAST_PTHREAD_SO an object that is built already.
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null

locks=("$@")
if [ "${#locks[@]}" = 0 ]; then
    locks=(pthread auto word qword tas ttas ticket array mcs clh hmcs)
fi
# Most of them sleep most of the time.
at_once=6

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# The sources, as Debian packs them, by lists of this script's own.
get_source() {
    local parts="$work/apt/parts" version
    version="$(dpkg-query --showformat='${source:Version}' --show libc6)"
    mkdir -p "$parts" "$work/apt/lists/partial"
    # shellcheck source=/dev/null # the release's name
    . /etc/os-release
    printf 'Types: deb-src\nURIs: %s\nSuites: %s %s-updates\nComponents: main\nSigned-By: %s\n' http://deb.debian.org/debian \
        "$VERSION_CODENAME" "$VERSION_CODENAME" /usr/share/keyrings/debian-archive-keyring.gpg >"$parts/source.sources"
    local apt=(apt-get -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$parts" -o "Dir::State::lists=$work/apt/lists")
    (cd "$work" && "${apt[@]}" --quiet update && "${apt[@]}" source --download-only "glibc=$version") >"$work/got" 2>&1 || {
        echo "SKIPPED: glibc's tests: the archive has no sources of glibc $version, or cannot be reached"
        exit 0
    }
    tar --extract --file "$work"/glibc_*.orig.tar.* --directory "$work"
    echo "$work"/glibc-*/
}

# The tests, as files beside each other, and what they share with glibc's other tests: its own folder `support`. The few headers
# of glibc's inside that some of them name have stand-ins; tests that need more do not build.
lay_out() {
    local include="$work/include"
    mkdir -p "$work/tests" "$include/elf"
    ln -s "$source/support" "$source/test-skeleton.c" "$source/include/intprops.h" "$include"
    ln -s "$source/include/array_length.h" "$source/include/libc-diag.h" "$include"
    printf '#include <stdbool.h>\n#include "%s"\n' "$source/sysdeps/nptl/internaltypes.h" >"$include/internaltypes.h"
    touch "$include/config.h" "$include/elf/dl-tunables.h"
    echo '#include <pthread.h>' >"$include/pthreadP.h"
    cat >"$include/atomic.h" <<'HEADER'
#define __HAVE_64B_ATOMICS 1
#define atomic_load_relaxed(from) __atomic_load_n(from, __ATOMIC_RELAXED)
#define atomic_store_relaxed(to, value) __atomic_store_n(to, value, __ATOMIC_RELAXED)
HEADER
    local folder
    for folder in "$source/nptl" "$source/sysdeps/pthread"; do
        find "$folder" -maxdepth 1 -regextype posix-extended \
            -regex '.*/tst-(mutex|cond|rwlock|spin|barrier|robust|once|sem).*\.c' -exec cp {} "$work/tests" ';'
    done
    find "$source/nptl" "$source/sysdeps" -name tst-tpp.h -exec cp {} "$work/tests" ';'
}

flags=(-std=gnu11 -D_GNU_SOURCE -DMODULE_NAME=testsuite -DTIMEOUTFACTOR=3 -O2 -w -include limits.h)

# Compiles what the tests share into a library; files of it that need more of glibc are left out.
build_support() {
    mkdir "$work/support"
    local file
    for file in "$source"/support/*.c; do
        case "$(basename "$file")" in
        tst-* | test-* | README* | *time64* | *container* | *_main.c)
            [ "$(basename "$file")" = support_test_main.c ] || continue
            ;;
        esac
        printf '%s\0' "$file"
    done | xargs -0 -P "$(nproc)" -I{} sh -c 'gcc "$@" -c {} -o "$0/$(basename {} .c).o" 2>/dev/null || true' "$work/support" \
        "${flags[@]}" -I"$work/include" -idirafter "$source/support"
    # In the place of a check for open files, which needs glibc's inside, and of the folder of a build.
    gcc -c -x c -o "$work/support/stand_in.o" - <<'SOURCE'
void *support_descriptors_list(void) { return 0; }
void support_descriptors_check(void *unused) { (void)unused; }
void support_descriptors_free(void *unused) { (void)unused; }
const char support_objdir_root[] = "/";
SOURCE
    ar rcs "$work/libsupport.a" "$work"/support/*.o
}

# Builds the tests; those that want static programs or other times cannot be served, or are the same on 64 bits.
build_tests() {
    mkdir "$work/bin"
    find "$work/tests" -name 'tst-*.c' ! -name '*static*' ! -name '*time64*' -print0 |
        xargs -0 -P "$(nproc)" -I{} sh -c 'gcc "$@" {} -o "$0/$(basename {} .c)" "$0/../libsupport.a" -lrt -lm 2>/dev/null || basename {} .c' \
            "$work/bin" "${flags[@]}" -fexceptions -I"$work/include" -I"$work/tests" -idirafter "$source/support" |
        sort >"$work/unbuilt"
    find "$work/bin" -type f -printf '%f\n' | sort >"$work/built"
    if [ ! -s "$work/built" ]; then
        echo "none of the tests builds"
        exit 1
    fi
}

# Runs all tests with the variables $2.., and writes their names and exit statuses to the file $1.
run_tests() {
    local results="$1"
    shift
    xargs -P "$at_once" -I{} sh -c 'timeout --kill-after=5 300 env "$@" "$0/{}" >/dev/null 2>&1; echo {} $?' "$work/bin" "$@" \
        <"$work/built" | sort >"$results"
}

source="${NPTL_SOURCE:-$(get_source)}"
case "$source" in
SKIPPED*)
    echo "$source"
    exit 0
    ;;
esac
source="$(realpath "$source")"
object="${CORECAST_PTHREAD_SO:-}"
if [ -z "$object" ]; then
    cargo build --quiet --release --package corecast-shim-pthread
    object="${CARGO_TARGET_DIR:-target}/release/libcorecast_pthread.so"
fi
object="$(realpath "$object")"

lay_out
build_support
build_tests
run_tests "$work/without" A=1
echo "$(wc -l <"$work/built") tests built; without the object $(grep --count ' 0$' "$work/without") pass," \
    "$(grep --count ' 77$' "$work/without" || true) cannot run here"
grep --invert-match --extended-regexp ' (0|77)$' "$work/without" | sed 's/^/    without: /' || true
sed 's/^/    does not build: /' "$work/unbuilt"

is_equal=true
for lock in "${locks[@]}"; do
    run_tests "$work/with-$lock" "LD_PRELOAD=$object" CORECAST_SHIM=lock,barrier "CORECAST_LOCK=$lock"
    echo "$lock: $(comm -12 "$work/without" "$work/with-$lock" | wc -l) of $(wc -l <"$work/built") equal"
    if ! cmp --quiet "$work/without" "$work/with-$lock"; then
        comm -13 "$work/without" "$work/with-$lock" | sed 's/^/    with: /'
        is_equal=false
    fi
done
$is_equal
