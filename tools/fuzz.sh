#!/usr/bin/env bash
# Builds the fuzzers and runs each for some seconds: tools/fuzz.sh [SECONDS [NAME...]] (15 seconds
# and all of tests/fuzz/corpus/ unless told).
# New inputs are kept in build/fuzz/corpus/, inputs that fail in build/fuzz/failures/.
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
seconds=${1:-15}
names=("${@:2}")
if ((${#names[@]} == 0)); then
  mapfile -t names < <(ls tests/fuzz/corpus)
fi

tools/build.sh fuzz "${names[@]/#/fuzz_}"
failed=0
for name in "${names[@]}"; do
  seeds=tests/fuzz/corpus/$name
  found=build/fuzz/corpus/$name
  failures=build/fuzz/failures/$name
  log=build/fuzz/$name.log
  mkdir -p "$found" "$failures"
  if build/fuzz/bin/"fuzz_$name" -max_total_time="$seconds" -timeout=5 -verbosity=0 \
    -artifact_prefix="$failures/" "$found" "$seeds" >"$log" 2>&1; then
    echo "$name: no failure in $seconds s, $(find "$found" -type f | wc -l) inputs kept"
  else
    tail -n 50 "$log"
    echo "$name failed; try again with: build/fuzz/bin/fuzz_$name $failures/FILE"
    failed=1
  fi
done
exit $failed
