#!/usr/bin/env bash
# Checks that the programs and files which documents show are those of examples/, line for line.
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
failed=0

# check DOCUMENT LANGUAGE FILE: the first block of this language in the document is the file.
check() {
  local shown
  shown=$(awk -v fence="\`\`\`$2" '$0 == fence { inside = 1; next } inside && /^```$/ { exit } inside' "$1")
  if ! diff -u <(echo "$shown") "$3"; then
    echo "$1 does not show $3 as it is; copy the file into its first $2 block" >&2
    failed=1
  fi
}

check README.md cpp examples/sum.cc
check docs/adding_an_algorithm.md text examples/chain.schedule
check docs/adding_an_algorithm.md cpp examples/my_algorithm.cc
check docs/mpi.md cpp examples/mpi_all_reduce.cc
check docs/c.md c examples/all_reduce.c
exit $failed
