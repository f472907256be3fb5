#!/usr/bin/env bash
# The licences, sources and known faults of the crates that corecast is built from, as deny.toml allows them. Without
# cargo-deny only the licences are compared, by the manifests that cargo has downloaded.
set -euo pipefail
cd "$(dirname "$0")/.."

if cargo deny --version >/dev/null 2>&1; then
    cargo deny --workspace check licenses sources bans
    # The list of known faults is downloaded; without a network it is not looked at.
    cargo deny fetch db >/dev/null 2>&1 || {
        echo "SKIPPED: known faults of dependencies: their list cannot be downloaded"
        exit 0
    }
    cargo deny --workspace check --disable-fetch advisories
    exit 0
fi
echo "SKIPPED: sources and known faults of dependencies: no cargo-deny (cargo install cargo-deny)"
command -v python3 >/dev/null || {
    echo "SKIPPED: licences of dependencies: neither cargo-deny nor Python"
    exit 0
}
python3 - <<'PYTHON'
import json, re, subprocess, sys

# The lists of deny.toml are the only ones.
text = open("deny.toml").read()
targets = re.findall(r'"([^"]+)"', re.search(r"(?s)\ntargets = \[(.*?)\]", text).group(1))
allowed = set(re.findall(r'"([^"]+)"', re.search(r"(?s)\nallow = \[(.*?)\]", text).group(1)))

def holds(expression):
    """Whether some choice among the licences of an SPDX expression is allowed."""
    words = re.findall(r"\(|\)|[^\s()/]+|/", expression)
    python = []
    for word in words:
        if word in "()":
            python.append(word)
        elif word in ("OR", "/", "AND"):
            python.append("and" if word == "AND" else "or")
        else:
            python.append(str(word in allowed))
    return eval(" ".join(python))

def packages_for(target):
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["packages"]

packages = list({package["id"]: package for target in targets for package in packages_for(target)}.values())
def is_refused(package):
    expression = package["license"]
    if not expression:
        return True
    # An exception only widens what its licence allows.
    return not holds(re.sub(r"\s+WITH\s+\S+", "", expression))

refused = sorted(f"{package['name']} {package['version']}: {package['license']}" for package in packages if is_refused(package))
if refused:
    sys.exit("licences that deny.toml does not allow:\n" + "\n".join(refused))
print(f"{len(packages)} crates have licences that deny.toml allows")
PYTHON
