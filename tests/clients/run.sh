#!/usr/bin/env bash
# Runs Fanin against other software, each in an environment of its own.
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

tests/clients/venv.sh numpy
.venvs/numpy/bin/python tests/clients/numpy_npy.py build/release/bin/fanin
.venvs/numpy/bin/python tests/clients/fsum.py build/release/bin/fanin
