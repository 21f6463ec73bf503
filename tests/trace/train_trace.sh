#!/usr/bin/env bash
# The trace of a real training, of two processes: train_trace.sh FILE
set -euo pipefail
tool=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../build/release/bin/fanin
exec "$tool" launch -n 2 -- "$tool" train --devices 2 --epochs 1 --width 64 --bytes-per-pack 16K --trace "$1"
