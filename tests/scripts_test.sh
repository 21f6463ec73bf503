#!/usr/bin/env bash
# Checks that the scripts answer a wrong command with a sentence and exit code 2.
set -euo pipefail
cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
failed=0

# expect EXIT_CODE WORDS_OF_THE_ANSWER COMMAND...
expect() {
  local code=0 answer
  answer=$("${@:3}" 2>&1 </dev/null) || code=$?
  [[ $code == "$1" && $answer == *"$2"* ]] && return
  echo "${*:3}: expected exit code $1 and '$2', got $code and: $answer"
  failed=1
}

expect 0 "./test --quick" ./test --help
expect 0 "sanitizers" ./test --list
expect 2 "unknown word 'quick'" ./test quick
expect 2 "--only needs" ./test --only
expect 2 "--without needs a stage, not 'nothing'" ./test --without nothing
expect 2 "unknown purpose 'cooking'" tools/packages.sh cooking
expect 2 "name a preset" tools/build.sh
expect 2 "unknown option '--chek'" tools/format.sh --chek
expect 2 "'snake' is no environment; it is one of: intelmpi numpy oneccl perfetto safetensors tensorflow torch" tests/clients/venv.sh snake
exit $failed
