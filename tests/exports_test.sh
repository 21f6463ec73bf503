#!/usr/bin/env bash
# Checks that a library shows the functions of the C header and nothing else, each with its version:
# tests/exports_test.sh LIBRARY HEADER
set -euo pipefail
library=$1
header=$2

shown=$(nm -D --defined-only --with-symbol-versions "$library" | awk '$2 != "A" { print $3 }' | sort)
declared=$(grep -oE '^[a-z].*\bfanin_[a-z_]+\(' "$header" | grep -oE 'fanin_[a-z_]+\(' | tr -d '(' | sort)
if ! diff <(sed -E 's/@.*//' <<<"$shown") <(echo "$declared"); then
  echo "$library shows other names (<) than $header declares (>); mend src/c_api/exports.map" >&2
  exit 1
fi
if grep -vE '@@FANIN_[0-9]+\.[0-9]+$' <<<"$shown"; then
  echo "The names above have no version in $library" >&2
  exit 1
fi
