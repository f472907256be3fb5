# Sourced by the steps that build the models: the crates that have some, as options of cargo in `models`. LOOM_SHARE=0/3 leaves the first
# of each three, from the first on. The order puts those that need corecast-plan, which takes long to build, into one share of three,
# and those of corecast-channel, whose models run as long as all others together, into another one.

packages=(channel collective lock base replica shim-pthread shim-omp tm)
share="${LOOM_SHARE:-0/1}"
models=()
for ((index = ${share%/*}; index < ${#packages[@]}; index += ${share#*/})); do
    models+=(--package "corecast-${packages[index]}")
    [ "${packages[index]}" != lock ] || models+=(--features corecast-lock/hierarchical)
done
