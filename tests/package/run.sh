#!/usr/bin/env bash
# Installs Fanin into a scratch folder and builds programs against it outside of the tree, by
# find_package and by pkg-config, for the static and for the shared library.
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
root=$PWD

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r tests/package "$scratch/program source"
# The README's program too, where the library has what it calls, and one in C.
programs=("$scratch/program source/main.cc" "$root/examples/all_reduce.c")
[[ ! -x build/release/bin/example_sum ]] || programs+=("$root/examples/sum.cc")

check() {
  local kind=$1 prefix="$scratch/$1 prefix" program out
  echo "$kind: installed files"
  diff <(cd include && find . -type f | sort) <(cd "$prefix/include" && find . -type f | sort) ||
    { echo "The headers installed are not those of include/"; return 1; }
  [[ $("$prefix/bin/fanin" version) == "fanin "* ]]
  tests/exports_test.sh "$(find "$prefix" -name libfanin_c.so)" "$prefix/include/fanin/fanin.h"

  for program in "${programs[@]}"; do
    echo "$kind: $(basename "$program") by find_package"
    rm -rf "$scratch/by cmake"
    cmake -G Ninja -S "$scratch/program source" -B "$scratch/by cmake" -DPROGRAM="$program" \
      -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
    cmake --build "$scratch/by cmake" >/dev/null
    "$scratch/by cmake/program"

    echo "$kind: $(basename "$program") by pkg-config"
    out="$scratch/by pkg-config"
    local flags compile=(g++ -std=c++20) package=fanin
    [[ $program != *.c ]] || { compile=(gcc -std=c11 -Wall -Wextra -Wpedantic -Werror); package=fanin-c; }
    # pkg-config quotes spaces in paths for the shell.
    eval "flags=($(PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name fanin.pc)") \
      pkg-config --cflags --libs "$package"))"
    "${compile[@]}" "$program" -o "$out" "${flags[@]}"
    LD_LIBRARY_PATH=$(dirname "$(find "$prefix" -name 'libfanin.*' -print -quit)") "$out"
  done
}

tools/build.sh release
cmake --install build/release --prefix "$scratch/static prefix" >/dev/null
check static

echo "shared: build"
cmake --preset release -B build/shared -DBUILD_SHARED_LIBS=ON -DFANIN_BENCHMARKS=OFF \
  -DFANIN_EXAMPLES=OFF >/dev/null
cmake --build build/shared >/dev/null
cmake --install build/shared --prefix "$scratch/shared prefix" >/dev/null
check shared
