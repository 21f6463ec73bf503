#!/usr/bin/env bash
# Looks for mistakes that neither compiler nor tests see: public headers, shell scripts, files named
# in documents, and clang-tidy over all sources. clang-tidy's good results are kept in build/tidy/
# by content, so that only what changed is looked at again.
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
failed=0

# Each public header compiles alone, needs nothing but the standard library, and is in all.h.
check_headers() {
  local header
  for header in include/fanin/*.h; do
    header=${header#include/}
    g++ -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude -x c++ - \
      <<<"#include \"$header\"" || { echo "include/$header does not compile alone"; failed=1; }
    [[ $header == fanin/all.h ]] || grep -qF "#include \"$header\"" include/fanin/all.h ||
      { echo "include/fanin/all.h does not include $header"; failed=1; }
  done
  if grep -nE '^#include (<[^>]*[/.]|"(fanin/)?[^"]*/)' include/fanin/*.h | grep -v '"fanin/[a-z0-9_]*\.h"'; then
    echo "A public header may include only the standard library and fanin/*.h"
    failed=1
  fi
}

check_scripts() {
  local scripts
  mapfile -t scripts < <(grep -rlE --exclude-dir=build --exclude-dir=.git --exclude-dir=.venvs \
    '^#!/usr/bin/env bash' . | sort)
  shellcheck "${scripts[@]}" || failed=1
}

# Links of documents, and `paths` in them that start with a folder of ours.
check_documents() {
  local document path link='\]\([^)#: ]+' ours='(include|src|bench|examples|tests|tools|docs|cmake)'
  while IFS=: read -r document path; do
    [[ -e $path || -e $(dirname "$document")/$path ]] ||
      { echo "$document names $path, which is not there"; failed=1; }
  done < <(find . -name '*.md' -not -path './build/*' -not -path './.venvs/*' | sort | tr '\n' '\0' |
    xargs -0 grep -oHE "$link|\`$ours/[A-Za-z0-9_./-]*\`" |
    grep -vE ':\]\(https?$' | sed -E 's/:\]\(/:/' | tr -d '\`')
}

# Prints `file key` for each source; the key stands for the file, all headers and the settings.
tidy_keys() {
  local common file
  common=$( (find include src bench -name '*.h' | sort | tr '\n' '\0' | xargs -0 cat;
    cat .clang-tidy cmake/FaninLayer.cmake; clang-tidy --version) | sha256sum)
  sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' build/dev/compile_commands.json | sort -u |
    while read -r file; do
      file=${file#"$PWD"/}
      case $file in *_test.cc | tests/* | /*) continue ;; esac
      echo "$(cat "$file" - <<<"$file $common" | sha256sum | cut -c 1-32) $file"
    done
}

check_sources() {
  local todo=() key file
  mkdir -p build/tidy
  while read -r key file; do
    [[ -e build/tidy/$key ]] || todo+=("$key" "$file")
  done < <(tidy_keys)
  echo "clang-tidy: $((${#todo[@]} / 2)) sources have changed"
  ((${#todo[@]})) || return 0
  # shellcheck disable=SC2016  # the inner shell expands
  printf '%s\0' "${todo[@]}" | xargs -0 -n 2 -P "$(nproc)" bash -c '
    if output=$(clang-tidy -p build/dev --quiet "$2" 2>&1); then
      touch "build/tidy/$1"
    else
      grep -vE "^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter" <<<"$output"
      exit 1
    fi' tidy || { echo "clang-tidy found something"; failed=1; }
}

check_headers
check_scripts
check_documents
tools/build.sh dev build.ninja
check_sources
exit $failed
