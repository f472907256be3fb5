#!/usr/bin/env bash
# The C library as its users meet it: installed, found by pkg-config and CMake, its examples built as C and C++, and run.
# With C_LIBRARY_PROFILE=test it is the library that `cargo test` has built, which takes no time instead of minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v cc >/dev/null; then
    echo "SKIPPED: C interface: no C compiler"
    exit 0
fi
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
profile="${C_LIBRARY_PROFILE:-c-library}"
# Only to start processes, so that it need not be optimised. `make` builds it with the tests.
[ "$profile" = test ] || cargo build --package corecast-cli
make --silent --directory crates/capi install CARGO_TARGET_DIR="$target" PREFIX="$work/usr" PROFILE="$profile"
library_file="$(readlink -e "$work/usr/lib/libcorecast.so")"
version="${library_file##*/libcorecast.so.}"
if ldd "$library_file" | grep -E 'mpi|pmi|open-rte'; then
    echo "the C library needs an MPI before it is used" >&2
    exit 1
fi

strict=(-O2 -Wall -Wextra -Werror -pedantic -pthread)
if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH="$work/usr/lib/pkgconfig"
    read -ra library < <(pkg-config --cflags --libs corecast)
else
    echo "SKIPPED: C interface: no pkg-config"
    library=("-I$work/usr/include" "-L$work/usr/lib" -lcorecast)
fi

# The last line that each example has to print.
expect() {
    case "$1" in
    stream) echo '^5000000 messages of 56 bytes, [0-9.]+ ns each$' ;;
    select_epoll) echo '^received from three channels: 3003000 \(1 \+ 2 \+ 3 times 500500\); from the pipe: 1 byte$' ;;
    region) echo '^in the shop: 1, this process$' ;;
    group) echo '^4 members met 1000 times; their sums are 6 and 2, the variance of their ranks 1\.25$' ;;
    agree) echo '^all applied 6 of 9 proposals, saw 400 events in one order, and processed 1000 entries$' ;;
    swap_lock) echo '^    mcs: 200000 words in [0-9.]+ ms$' ;;
    replicated_counter) echo '^the counter is right$' ;;
    killed_holder) echo '^repaired: 100 of 100$' ;;
    bank) echo '^one teller was killed, and the other one moved money 1000 times: 800, as always$' ;;
    hello_group) echo '^rank [0-2] of 3: the sum is 129$' ;;
    planned_group) echo '^[0-9]+ members, each on its CPU, saw 1000 prices change$' ;;
    far_sum) echo '^rank 0 of 1, on node 0 of 1: the sum is 1$' ;;
    far_stencil) echo '^at rest after [0-9]+ rounds, [0-9.]+ beside the hot end$' ;;
    two_processes) echo '^the survivor ended with 0, and left nothing behind$' ;;
    *) echo "there is no example $1" >&2 && return 1 ;;
    esac
}

run() {
    local name="$1" program="$2" launcher=() arguments=()
    if [[ "$name" = far_* ]] && ! "$target/debug/corecast" mpi >/dev/null 2>&1; then
        echo "SKIPPED: C interface: $name: no MPI library"
        return
    fi
    if [ "$name" = hello_group ]; then
        launcher=("$target/debug/corecast" run -n 3 --)
    elif [ "$name" = planned_group ]; then
        "$target/debug/corecast" plan --op broadcast --json >"$work/plan.json"
        arguments=("$work/plan.json")
    fi
    LD_LIBRARY_PATH="$work/usr/lib" timeout 60 "${launcher[@]}" "$program" "${arguments[@]}" | tee "$program.output"
    tail -n 1 "$program.output" | grep -Eq "$(expect "$name")"
}

# An example of several machines with a process on each of two nodes, under every MPI that is installed.
run_on_two_nodes() {
    local name="$1" launcher expected
    case "$name" in
    far_sum) expected='^rank 1 of 2, on node 1 of 2: the sum is 3$' ;;
    *) expected="$(expect "$name")" ;;
    esac
    for launcher in mpirun.openmpi mpiexec.mpich; do
        if ! command -v "$launcher" >/dev/null; then
            echo "SKIPPED: C interface: $name on two nodes: no $launcher"
            continue
        fi
        echo "-- $name, on two nodes by $launcher"
        local options=(-n 2)
        [ "$launcher" = mpiexec.mpich ] || options+=(--allow-run-as-root --oversubscribe --bind-to none)
        LD_LIBRARY_PATH="$work/usr/lib" timeout 60 "$launcher" "${options[@]}" "$work/$name" >"$work/$name.output"
        grep -Eq "$expected" "$work/$name.output" || { cat "$work/$name.output"; exit 1; }
    done
}

# The first program of the guide, and the ways to build it that the guide tells.
awk '/^```c$/ { inside = 1; next } /^```$/ { exit_after = inside; inside = 0 } exit_after { exit } inside' docs/guide/c.md >"$work/hello.c"
says_hello() {
    test "$(LD_LIBRARY_PATH="$work/usr/lib" timeout 60 "$1")" = hello
}
echo "-- the guide's first program"
cc -std=c11 "${strict[@]}" "$work/hello.c" -o "$work/hello" "${library[@]}"
says_hello "$work/hello"
if command -v pkg-config >/dev/null && [ -e "$(cc -print-file-name=libc.a)" ]; then
    read -ra static_library < <(pkg-config --static --cflags --libs corecast)
    cc -std=c11 -static "$work/hello.c" -o "$work/hello-static" "${static_library[@]}"
    says_hello "$work/hello-static"
else
    echo "SKIPPED: C interface: no static C library, or no pkg-config"
fi

# An example in C: linked with the shared library, and as C++ with the static one.
try_c() {
    local source="$1" name
    name="$(basename "$source" .c)"
    echo "-- $name, as C11"
    cc -std=c11 "${strict[@]}" "$source" -o "$work/$name" "${library[@]}"
    run "$name" "$work/$name"
    [[ "$name" != far_* ]] || run_on_two_nodes "$name"
    if command -v c++ >/dev/null; then
        echo "-- $name, as C++17, linked statically"
        c++ -std=c++17 "${strict[@]}" -x c++ "$source" -x none -o "$work/$name-static" "-I$work/usr/include" \
            "$work/usr/lib/libcorecast.a" -lutil -lrt -lpthread -lm -ldl -lc
        run "$name" "$work/$name-static"
    else
        echo "SKIPPED: C interface: no C++ compiler"
    fi
}

try_cpp() {
    local source="$1" name
    command -v c++ >/dev/null || return 0
    name="$(basename "$source" .cpp)"
    echo "-- $name, written in C++"
    c++ -std=c++17 "${strict[@]}" "$source" -o "$work/$name-cpp" "${library[@]}"
    run "$name" "$work/$name-cpp"
}

# Two at a time; what each says comes out in one piece.
begun=()
for source in crates/capi/examples/*.{c,cpp}; do
    (
        said="$work/$(basename "$source").said"
        trap 'cat "$said"' EXIT
        "try_${source##*.}" "$source" >"$said" 2>&1
    ) &
    begun+=("$!")
    [ "${#begun[@]}" = 1 ] || wait "${begun[-2]}"
done
wait "${begun[-1]}"

if command -v cmake >/dev/null; then
    echo "-- found by CMake"
    cat >"$work/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.10)
project(user C)
find_package(corecast $version EXACT REQUIRED)
foreach(library corecast corecast-static)
  add_executable(region-\${library} $PWD/crates/capi/examples/region.c)
  target_link_libraries(region-\${library} corecast::\${library})
endforeach()
add_executable(hello hello.c)
target_link_libraries(hello corecast::corecast)
CMAKE
    cmake -S "$work" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/usr" >"$work/cmake.log"
    cmake --build "$work/build" >>"$work/cmake.log"
    for library in corecast corecast-static; do
        run region "$work/build/region-$library"
    done
    says_hello "$work/build/hello"
else
    echo "SKIPPED: C interface: no CMake"
fi

make --silent --directory crates/capi uninstall PREFIX="$work/usr"
left="$(find "$work/usr" ! -type d)"
test -z "$left" || { echo "left after uninstall: $left"; exit 1; }
