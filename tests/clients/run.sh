#!/usr/bin/env bash
# Runs Fanin against other software, each in an environment of its own.
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

# run ENVIRONMENT SCRIPT
run() {
  tests/clients/venv.sh "$1" || { echo "Without it: ./test --without clients"; return 1; }
  ".venvs/$1/bin/python" "tests/clients/$2" build/release/bin/fanin
}

run numpy numpy_npy.py
run tensorflow tensorflow_add_n.py
