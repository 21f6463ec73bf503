#!/usr/bin/env bash
# Builds the fuzzers and runs each for some seconds, one on each core: tools/fuzz.sh [SECONDS
# [NAME...]] (30 seconds and all of tests/fuzz/corpus/ unless told).
# New inputs are kept in build/fuzz/corpus/, inputs that fail in build/fuzz/failures/.
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
seconds=${1:-30}
names=("${@:2}")
if ((${#names[@]} == 0)); then
  mapfile -t names < <(ls tests/fuzz/corpus)
fi

run_fuzzer() {
  local name=$1 seconds=$2
  local found=build/fuzz/corpus/$name failures=build/fuzz/failures/$name log=build/fuzz/$name.log
  mkdir -p "$found" "$failures"
  if build/fuzz/bin/"fuzz_$name" -max_total_time="$seconds" -timeout=5 -verbosity=0 \
    -artifact_prefix="$failures/" "$found" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
    echo "$name: no failure in $seconds s, $(find "$found" -type f | wc -l) inputs kept"
    return
  fi
  tail -n 50 "$log"
  echo "$name failed; try again with: build/fuzz/bin/fuzz_$name $failures/FILE"
  return 1
}

tools/build.sh fuzz "${names[@]/#/fuzz_}"
export -f run_fuzzer
# shellcheck disable=SC2016 # the inner shell expands them
printf '%s\n' "${names[@]}" |
  xargs -P "$(nproc)" -I NAME bash -c 'run_fuzzer "$1" "$2"' _ NAME "$seconds"
