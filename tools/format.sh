#!/usr/bin/env bash
# Formats all C and C++ files; with --check it only names those that are not formatted, and fails.
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

case ${1-} in
  "") mode=(-i) ;;
  --check) mode=(--dry-run -Werror) ;;
  *) echo "format.sh: unknown option '$1'; there is only --check" >&2; exit 2 ;;
esac
find include src bench examples tests -name '*.cc' -o -name '*.c' -o -name '*.h' | sort | tr '\n' '\0' |
  xargs -0 clang-format "${mode[@]}" || {
  echo "Some files are not formatted; tools/format.sh does it" >&2
  exit 1
}
