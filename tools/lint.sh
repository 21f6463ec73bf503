#!/usr/bin/env bash
# Looks for mistakes that neither compiler nor tests see: public headers, threads where none should
# be, shell scripts, files named in documents, cases that these name, and clang-tidy over all sources
# (tools/tidy.py).
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
failed=0

# Each public header compiles alone, needs nothing but the standard library, and is in all.h; that
# for C is C, and is not.
check_headers() {
  local header
  gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude -x c - \
    <<<'#include "fanin/fanin.h"' || { echo "include/fanin/fanin.h is not C11"; failed=1; }
  for header in include/fanin/*.h; do
    header=${header#include/}
    g++ -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude -x c++ - \
      <<<"#include \"$header\"" || { echo "include/$header does not compile alone"; failed=1; }
    [[ $header == fanin/all.h || $header == fanin/fanin.h ]] || grep -qF "#include \"$header\"" include/fanin/all.h ||
      { echo "include/fanin/all.h does not include $header"; failed=1; }
  done
  if grep -nE '^#include (<[^>]*[/.]|"(fanin/)?[^"]*/)' include/fanin/*.h |
    grep -vE '"fanin/[a-z0-9_]*\.h"|^include/fanin/fanin\.h:[0-9]+:#include <std(def|int)\.h>$'; then
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

# Cases that documents name, as `system/name`, are in the vectors.
check_cases() {
  local id systems
  systems=$(cd tests/vectors && printf '%s|' ./*.jsonl | sed -E 's:\./::g; s:\.jsonl::g; s:\|$::')
  while read -r id; do
    grep -qF "\"id\":\"$id\"" tests/vectors/*.jsonl ||
      { echo "docs/ name the case $id, which is not in tests/vectors/"; failed=1; }
  done < <(grep -ohE "\`($systems)/[A-Za-z0-9_-]+\`" docs/*.md | tr -d '\`' | sort -u)
}

# What CMake takes for ONE_THREAD knows of no thread.
check_one_thread() {
  local lists threads='std::(jthread|thread|atomic|mutex|async)|ThreadPool|run_in_parts'
  while read -r lists; do
    if grep -rnE --include='*.cc' --include='*.h' "$threads" "$(dirname "$lists")"; then
      echo "$lists says ONE_THREAD, but the lines above know of threads"
      failed=1
    fi
  done < <(grep -lE '^  ONE_THREAD' src/*/CMakeLists.txt)
}

check_headers
check_one_thread
check_scripts
check_documents
check_cases
tools/build.sh dev build.ninja
python3 tools/tidy.py || failed=1
exit $failed
