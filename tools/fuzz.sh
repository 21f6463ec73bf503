#!/usr/bin/env bash
# Builds the fuzzers and runs each for some seconds: tools/fuzz.sh [SECONDS] (15 unless told).
# New inputs are kept in build/fuzz/corpus/, inputs that fail in build/fuzz/failures/.
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
seconds=${1:-15}

tools/build.sh fuzz fuzzers
failed=0
for seeds in tests/fuzz/corpus/*/; do
  name=$(basename "$seeds")
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
