#!/usr/bin/env bash
# Kills, stops and misleads ranks of real processes, and looks at what the others say and at what is
# left behind. Prints a line for each case.
#   tests/faults/run.sh TOOL_DIR        the folder with fanin and fanin_rounds; below 2 minutes
# shellcheck disable=SC2016  # $FANIN_RANK is for the shells of the ranks to expand
set -u
bin=$(cd "${1:?usage: run.sh TOOL_DIR}" && pwd) || exit 2
fanin=$bin/fanin
rounds=$bin/fanin_rounds
for program in "$fanin" "$rounds"; do
  [ -x "$program" ] || { echo "faults: $program is missing; build first"; exit 2; }
done

work=$(mktemp -d "${TMPDIR:-/tmp}/fanin-faults-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work/tmp   # the launcher's folders are made here, so that leftovers are ours
mkdir "$TMPDIR"
# Each process of this run carries the mark in its environment, so that no other run's are counted.
export FANIN_FAULTS_MARK=$work
unset FANIN_SECRET FANIN_SECRET_FILE RANK WORLD_SIZE SLURM_PROCID SLURM_NTASKS   # of whoever runs this
export FANIN_TIMEOUT_SECONDS=20   # far longer than anything should take here
failures=0
exec 2> >(grep -v " Killed " >&2)   # the shell tells of each one that it saw killed

# check NAME CONDITION...: one line, and what was printed if it failed
check() {
  local name=$1
  shift
  if "$@"; then
    echo "ok    $name"
  else
    echo "FAIL  $name: $*"
    sed 's/^/      | /' "$work/out" "$work/err" 2>/dev/null
    failures=$((failures + 1))
  fi
}

says() { grep -q -- "$1" "$work/err"; }
prints() { grep -q -- "$1" "$work/out"; }
is() { [ "$1" -eq "$2" ]; }
took_less_than() { [ $(($(date +%s%N) - started)) -lt $(($1 * 1000000)) ]; }

# Ours that still run, this shell and its children here excepted. A zombie has ended.
leftover_processes() {
  local environ pid
  for environ in /proc/[0-9]*/environ; do
    pid=${environ#/proc/}
    pid=${pid%/environ}
    case $(readlink "/proc/$pid/exe" 2>/dev/null) in
      "$fanin" | "$rounds") grep -qsz "^FANIN_FAULTS_MARK=$work\$" "$environ" && echo "$pid" ;;
    esac
  done
}

nothing_is_left() {
  for _ in $(seq 50); do
    [ -z "$(leftover_processes)$(ls -A "$TMPDIR")" ] && break
    sleep 0.1
  done
  local left
  left="$(leftover_processes)$(ls -A "$TMPDIR")$(find /dev/shm -user "$(id -u)" -name '*fanin*' 2>/dev/null)"
  [ -z "$left" ] || { echo "      left behind: $left"; return 1; }
}

# start N COUNT [launch options]: a job in the background; waits until all ranks have met
start() {
  local n=$1 count=$2
  shift 2
  : >"$work/out"
  : >"$work/err"
  "$fanin" launch -n "$n" "$@" -- "$rounds" "$count" >"$work/out" 2>"$work/err" &
  launcher=$!
  for _ in $(seq 200); do
    [ "$(grep -c 'met$' "$work/out")" -eq "$n" ] && return
    sleep 0.05
  done
}

# pid_of RANK: the rank's process, by its environment
pid_of() {
  local pid
  for pid in $(leftover_processes); do
    [ "$(readlink "/proc/$pid/exe")" = "$rounds" ] &&
      grep -qsz "^FANIN_RANK=$1\$" "/proc/$pid/environ" && echo "$pid"
  done
}

finish() {
  wait "$launcher"
  code=$?
}

echo "a job that goes well"
for n in 1 3 8; do
  start "$n" 50
  finish
  check "$n ranks meet and end with 0" is "$code" 0
done
check "each line has its rank in front" prints '^\[7\] done$'
check "nothing is left" nothing_is_left

echo "a rank is killed"
start 3 30000
victim=$(pid_of 1)
started=$(date +%s%N)
kill -9 "$victim"
finish
check "the launcher ends within 5 s" took_less_than 5000
check "with the code of the killed rank" is "$code" 137
check "and names it" says 'rank 1 of 3 failed first: signal 9'
check "nothing is left" nothing_is_left

echo "a rank is killed, and the others are not ended by the launcher"
mkdir "$TMPDIR/job"
: >"$work/out"
: >"$work/err"
for rank in 0 1 2; do
  FANIN_RENDEZVOUS=file:$TMPDIR/job/socket FANIN_RANK=$rank FANIN_WORLD_SIZE=3 \
    "$rounds" 30000 >>"$work/out" 2>>"$work/err" &
  ranks[rank]=$!
done
for _ in $(seq 200); do [ "$(grep -c met "$work/out")" -eq 3 ] && break; sleep 0.05; done
check "the socket is gone once all are there" [ ! -e "$TMPDIR/job/socket" ]
started=$(date +%s%N)
kill -9 "${ranks[2]}"
wait "${ranks[0]}"; first=$?
wait "${ranks[1]}"; second=$?
wait "${ranks[2]}" 2>/dev/null
check "they notice within 2 s, long before the deadline" took_less_than 2000
check "rank 0 ends with 3" is "$first" 3
check "rank 1 ends with 3" is "$second" 3
check "one of them names rank and process" says "waited for rank 2 (process ${ranks[2]}), which has died"
check "and both of them the rank" is "$(grep -c "rank 2 (process ${ranks[2]})" "$work/err")" 2
rmdir "$TMPDIR/job"
check "nothing is left" nothing_is_left

echo "the launcher is killed"
start 3 30000
check "the ranks' folder is there while they run" [ -n "$(ls -A "$TMPDIR")" ]
kill -9 "$launcher"
finish 2>/dev/null
check "nothing is left" nothing_is_left

echo "the launcher is killed while ranks wait for each other"
: >"$work/out"
: >"$work/err"
"$fanin" launch -n 2 -- sh -c 'test $FANIN_RANK = 0 || sleep 60; exec '"$rounds" >"$work/out" 2>"$work/err" &
launcher=$!
sleep 0.5
kill -9 "$launcher"
finish 2>/dev/null
check "nothing is left" nothing_is_left

echo "the launcher is told to end"
start 3 30000
started=$(date +%s%N)
kill -TERM "$launcher"
finish
check "it ends within 5 s" took_less_than 5000
check "with 143" is "$code" 143
check "nothing is left" nothing_is_left

echo "the launcher is asked for something else"
: >"$work/out"
"$fanin" launch -n 2 -- sh -c 'trap "echo heard; exit 0" USR1; echo ready; while :; do sleep 0.05; done' \
  >"$work/out" 2>"$work/err" &
launcher=$!
for _ in $(seq 200); do [ "$(grep -c 'ready$' "$work/out")" -eq 2 ] && break; sleep 0.05; done
kill -USR1 "$launcher"
finish
check "it passes SIGUSR1 on to all" is "$(grep -c 'heard$' "$work/out")" 2
check "and goes on until they end" is "$code" 0

echo "a rank is stopped"
start 3 30000 --timeout 1
victim=$(pid_of 1)
started=$(date +%s%N)
kill -STOP "$victim"
finish
check "the job ends by the deadline" took_less_than 8000
check "with 3" is "$code" 3
check "the others name it as stopped" says "rank 1 (process $victim, which is stopped by a signal), until the deadline"
check "nothing is left" nothing_is_left

echo "a rank is missing"
: >"$work/out"
: >"$work/err"
mkdir "$TMPDIR/job"
export FANIN_RENDEZVOUS=file:$TMPDIR/job/socket
started=$(date +%s%N)
FANIN_RANK=1 FANIN_WORLD_SIZE=3 "$rounds" 2>"$work/err.1" &
other=$!
FANIN_RANK=0 FANIN_WORLD_SIZE=3 FANIN_TIMEOUT_SECONDS=1 "$rounds" 2>"$work/err"
code=$?
wait "$other"
other_code=$?
check "rank 0 and rank 1 end by rank 0's deadline" took_less_than 4000
check "rank 0 ends with 3" is "$code" 3
check "and names the missing rank" says 'rank 2 of 3 has not come'
check "rank 1 ends with 3" is "$other_code" 3
check "and names it too" grep -q 'rank 2 of 3 has not come' "$work/err.1"

echo "a rank comes twice, another with a wrong size"
FANIN_RANK=0 FANIN_WORLD_SIZE=3 "$rounds" >"$work/out" 2>&1 &
zero=$!
FANIN_RANK=1 FANIN_WORLD_SIZE=3 "$rounds" >"$work/out" 2>&1 &
one=$!
sleep 0.5
FANIN_RANK=1 FANIN_WORLD_SIZE=3 "$rounds" 2>"$work/err"
code=$?
check "the second rank 1 ends with 2" is "$code" 2
check "and reads why" says "wants to be rank 1, which process $one is already"
FANIN_RANK=2 FANIN_WORLD_SIZE=4 "$rounds" 2>"$work/err"
code=$?
check "the wrong size ends with 2" is "$code" 2
check "and reads why" says 'says that there are 4 ranks, rank 0 says 3'
FANIN_RANK=0 FANIN_WORLD_SIZE=3 "$rounds" 2>"$work/err"
code=$?
check "a second rank 0 ends with 2" is "$code" 2
check "and reads why" says "is served by process $zero"
FANIN_RANK=2 FANIN_WORLD_SIZE=3 "$rounds" >"$work/out" 2>"$work/err"
code=$?
wait "$zero"; zero_code=$?
wait "$one"; one_code=$?
check "the right ones still meet" is "$((code + zero_code + one_code))" 0
unset FANIN_RENDEZVOUS
rmdir "$TMPDIR/job"
check "nothing is left" nothing_is_left

echo "a stranger comes, without the secret or with another one"
mkdir -m 700 "$TMPDIR/job"
export FANIN_RENDEZVOUS=file:$TMPDIR/job FANIN_WORLD_SIZE=2
printf 'the-secret-of-this-job\n' >"$work/secret"
chmod 600 "$work/secret"
FANIN_RANK=0 FANIN_SECRET_FILE=$work/secret "$rounds" >"$work/out" 2>"$work/err.0" &
zero=$!
FANIN_RANK=1 "$rounds" 2>"$work/err"
code=$?
check "without a secret: 2" is "$code" 2
check "and reads why" says 'rank 1, has no secret, but rank 0 has one'
started=$(date +%s%N)
FANIN_RANK=1 FANIN_SECRET=a-guess "$rounds" 2>"$work/err"
code=$?
check "with a wrong secret: 2" is "$code" 2
check "and reads why" says "process $zero serves .* but did not prove to rank 1 that it knows the job's secret"
check "at once" took_less_than 5000
FANIN_RANK=0 FANIN_SECRET=a-guess "$rounds" 2>"$work/err"
code=$?
check "a second job at the same path: 2" is "$code" 2
check "and reads why" says 'two jobs need two paths'
FANIN_RANK=1 FANIN_SECRET=the-secret-of-this-job "$rounds" >"$work/out" 2>"$work/err"
code=$?
wait "$zero"; zero_code=$?
check "the right ones still meet" is "$((code + zero_code))" 0
check "rank 0 has told of the one without" grep -q 'fanin: warning: turned away at .*has no secret' "$work/err.0"
check "and of the one with another" grep -q 'fanin: warning: turned away at .*left without a proof' "$work/err.0"
check "and nobody said the secret" [ -z "$(cat "$work"/err* "$work/out" | grep -E 'secret-of-this-job|a-guess')" ]
chmod 644 "$work/secret"
FANIN_RANK=0 FANIN_SECRET_FILE=$work/secret "$rounds" 2>"$work/err"
code=$?
check "a secret that others can read: 2" is "$code" 2
check "and a sentence" says 'is open to others (mode 644); make it private: chmod 600'

echo "rank 0 is killed while it waits"
FANIN_RANK=0 "$rounds" >"$work/out" 2>"$work/err" &
zero=$!
for _ in $(seq 200); do [ -S "$TMPDIR/job/fanin.socket" ] && break; sleep 0.05; done
kill -9 "$zero"
wait "$zero" 2>/dev/null
check "its file stays" [ -S "$TMPDIR/job/fanin.socket" ]
FANIN_RANK=1 FANIN_TIMEOUT_SECONDS=0.3 "$rounds" 2>"$work/err"
code=$?
check "rank 1 alone ends with 3" is "$code" 3
check "and reads why" says 'found no rank 0 at .*, only a file that a process left behind which is gone'
FANIN_RANK=1 "$rounds" >"$work/out" 2>"$work/err.1" &
one=$!
FANIN_RANK=0 "$rounds" >"$work/out" 2>"$work/err"
code=$?
wait "$one"; one_code=$?
check "a new job takes the place over" is "$((code + one_code))" 0
unset FANIN_RENDEZVOUS FANIN_WORLD_SIZE
rmdir "$TMPDIR/job"
check "nothing is left" nothing_is_left

echo "ranks of torchrun and of Slurm"
mkdir -m 700 "$work/runtime"
export XDG_RUNTIME_DIR=$work/runtime
for rank in 0 1 2; do
  RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=3 LOCAL_WORLD_SIZE=3 TORCHELASTIC_RUN_ID=none MASTER_PORT=29500 \
    "$rounds" >"$work/out.$rank" 2>"$work/err.$rank" &
  ranks[rank]=$!
  SLURM_PROCID=$rank SLURM_NTASKS=3 SLURM_NNODES=1 SLURM_JOB_ID=7 SLURM_STEP_ID=0 \
    "$rounds" >"$work/out.$rank" 2>"$work/err.$rank" &
  ranks[3 + rank]=$!
done
code=0
for rank in 0 1 2 3 4 5; do wait "${ranks[rank]}" || code=$?; done
check "two jobs of 3 ranks meet, each by itself" is "$code" 0
check "nothing is left where they met" [ -z "$(ls -A "$XDG_RUNTIME_DIR")" ]
unset XDG_RUNTIME_DIR

echo "what the launcher is asked for is wrong"
"$fanin" launch -n 2 -- "$work/no-such-program" >"$work/out" 2>"$work/err"
code=$?
check "no such program: 2" is "$code" 2
check "and a sentence" says 'no-such-program" cannot be started: No such file'
"$fanin" launch -n 0 -- true >"$work/out" 2>"$work/err"
code=$?
check "no ranks: 2" is "$code" 2
"$fanin" launch -n 2 --json -- sh -c 'test $FANIN_RANK = 0 || exit 7; sleep 60' >"$work/out" 2>"$work/err"
code=$?
check "a rank's own code is passed on" is "$code" 7
check "and told as JSON" prints '"first_failure":1,"ranks":\[{"rank":0,"exit_code":143,"signal":15'
"$fanin" launch -n 2 -- sh -c 'trap "" TERM; test $FANIN_RANK = 0 || exit 1; sleep 60 & wait; wait' >"$work/out" 2>"$work/err"
code=$?
check "a rank that does not want to end is ended" is "$code" 1
"$fanin" launch -n 2 -- sh -c 'sleep 61.73 & printf "no newline"' >"$work/out" 2>"$work/err"
check "what a rank leaves running is ended" [ -z "$(pgrep -f '^sleep 61.73$')" ]
check "a last line without newline gets one" prints '^\[1\] no newline$'
check "nothing is left" nothing_is_left

[ "$failures" -eq 0 ] && echo "faults: all as they should be" || echo "faults: $failures failed"
[ "$failures" -eq 0 ]
