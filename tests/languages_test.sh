#!/usr/bin/env bash
# Compiles and runs the examples in languages that call C, where their compilers are here:
# tests/languages_test.sh LIBRARY TOOL. Exit code 77: there is none.
set -euo pipefail
library=$(readlink -f "$1")
tool=$(readlink -f "$2")
folder=$(dirname "$library")
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LD_LIBRARY_PATH=$folder
found=77

# check NAME: the program that was made sums, alone and as three ranks.
check() {
  found=0
  echo "$1"
  diff <(cd / && "$scratch/program") <(echo "sum 1.0 2.0 3.0")
  diff <("$tool" launch -n 3 -- "$scratch/program") <(echo "[0] sum 6.0 12.0 18.0")
}

if command -v gfortran >/dev/null; then
  gfortran -Wall -std=f2018 examples/all_reduce.f90 -J "$scratch" -o "$scratch/program" \
    -L"$folder" -lfanin_c
  check Fortran
fi
if command -v rustc >/dev/null; then
  rustc --edition 2021 examples/all_reduce.rs -o "$scratch/program" -L "$folder"
  check Rust
fi
exit "$found"
