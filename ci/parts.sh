# Sourced by checks that take hours and go on where they were stopped: they count only what was done with the code of now.

# Names the code in these paths: their last commit, and a digest of all that differs from it. Files that git does not know count, too,
# unless it ignores them.
code_of() {
    local commit changes
    commit="$(git log -1 --format=%H -- "$@")"
    changes="$({
        git diff --binary HEAD -- "$@"
        git ls-files -z --others --exclude-standard -- "$@" | xargs --null --no-run-if-empty sha256sum
    } | sha256sum | head --bytes 12)"
    echo "code $commit $changes"
}

# Names the code of the package $1: that of its folder and of the packages of this repository that it is built and tested with, and the
# versions of all others. So commits that touch nothing of them change nothing.
code_of_package() {
    local packages own
    packages="$(set -o pipefail; cargo tree --locked --package "$1" --edges normal,build,dev --prefix none --format '{p}' | sed 's/ (\*)$//' | sort --unique)" || return
    mapfile -t own < <(sed --quiet "s|.* ($PWD/\(.*\))\$|\1|p" <<<"$packages")
    echo "$(code_of Cargo.toml "${own[@]}") $(sed 's/ (.*//' <<<"$packages" | sha256sum | head --bytes 12)"
}

# Begins the file $1 with the line $2, which names the code, or ends the script if the file was begun with another one. $3 says what was
# begun, and how to begin anew.
begin_or_go_on() {
    mkdir --parents "$(dirname "$1")"
    [ -s "$1" ] || echo "$2" >"$1"
    if ! grep --quiet --fixed-strings --line-regexp "$2" "$1"; then
        echo "$3" >&2
        exit 1
    fi
}

# True if the end of the part $2 was noted in the file $1.
is_done() {
    grep --quiet --fixed-strings --line-regexp "$2: done" "$1"
}
