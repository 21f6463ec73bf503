#!/usr/bin/env bash
# Runs Fanin against other software, each in an environment of its own.
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

# run ENVIRONMENT SCRIPT
run() {
  tests/clients/venv.sh "$1" || { echo "Without it: ./test --without clients"; return 1; }
  ".venvs/$1/bin/python" "tests/clients/$2" build/release/bin/fanin
}

# The benchmark's worker of this peer can add, and says how long it takes.
can_be_measured() {
  ".venvs/$1/bin/python" "bench/peers/$1_sums.py" <<<"add_n 3 4096 float32 0.01" 2>/dev/null |
    grep -qE "^\{\"$1\": [0-9.e-]+\}\$" || { echo "bench/peers/$1_sums.py gives no time"; return 1; }
}

run numpy numpy_npy.py
run numpy fsum.py
run safetensors safetensors_files.py
run tensorflow tensorflow_add_n.py
can_be_measured numpy
can_be_measured tensorflow

tests/clients/venv.sh perfetto
python3 tests/trace/perfetto_test.py tests/trace/train_trace.sh
python3 tests/pages/compare_page.py build/release/bin/fanin
python3 tests/pages/compare_train_page.py build/release/bin/fanin
