#!/usr/bin/env bash
# Checks that the first C++ example of README.md is examples/sum.cc, line for line.
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

shown=$(awk '/^```cpp$/ { inside = 1; next } inside && /^```$/ { exit } inside' README.md)
if ! diff -u <(echo "$shown") examples/sum.cc; then
  echo "README.md does not show examples/sum.cc as it is; copy the file into its first cpp block" >&2
  exit 1
fi
