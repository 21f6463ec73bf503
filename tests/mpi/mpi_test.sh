#!/usr/bin/env bash
# Fanin as ranks of real MPI jobs: tests/mpi/mpi_test.sh MPI TOOL WHAT
#   jobs   mpirun on this host: with shared memory, by messages, and what goes wrong
#   absent the program TOOL, whose last rank does not join
#   late   the program TOOL, whose group lives longer than MPI
#   fails  the program TOOL, whose ranks differ, come late, and die
#   hosts  mpirun on hosts that are network namespaces: every spec name, and bytes on the wires
# Exit code 77 where it cannot be tried, with a sentence.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
mpi=$1 tool=$(readlink -f "$2") what=$3

skip() {
  echo "skipped: $1"
  exit 77
}
fail() {
  echo "failed: $1" >&2
  exit 1
}

command -v "mpirun.$mpi" >/dev/null || skip "mpirun.$mpi is not installed (tools/packages.sh mpi)"
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

# mpirun N COMMAND...: its output is in $log/out and $log/err.
run() {
  local count=$1 options=()
  shift
  [[ $mpi == mpich ]] || options=(--allow-run-as-root --oversubscribe)
  timeout 60 "mpirun.$mpi" "${options[@]}" -n "$count" "$@" >"$log/out" 2>"$log/err"
}

# has FILE TEXT
has() { grep -qF -- "$2" "$log/$1" || fail "no '$2' in: $(cat "$log/$1")"; }

test_jobs() {
  local count
  for count in 1 2 4; do
    run "$count" "$tool" selftest || fail "selftest of $count ranks: $(cat "$log/err")"
    has out "0 wrong"
    [[ $(wc -l <"$log/out") == 1 ]] || fail "more than rank 0 printed: $(cat "$log/out")"
  done
  has out "4 ranks, shared-memory"
  [[ ! -s $log/err ]] || fail "something was said: $(cat "$log/err")"

  FANIN_SHARE_MEMORY=0 run 4 "$tool" selftest || fail "selftest by messages: $(cat "$log/err")"
  has out "4 ranks, mpi"
  has out "0 wrong"
  [[ ! -s $log/err ]] || fail "something was said: $(cat "$log/err")"

  ! FANIN_MODULES=/nowhere run 2 "$tool" selftest || fail "there was a module in /nowhere"
  has err "is not there"
  has err "lib$mpi-dev"

  ! FANIN_ENGINE=mvapich run 2 "$tool" selftest || fail "an unknown engine was taken"
  has err '"mvapich" is no MPI library that Fanin knows'

  # Without MPI, by what Open MPI's mpirun tells everybody who speaks PMIx.
  if [[ $mpi == openmpi ]]; then
    FANIN_ENGINE=pmix run 4 "$tool" selftest || fail "selftest by PMIx: $(cat "$log/err")"
    has out "4 ranks, shared-memory"
    [[ ! -s $log/err ]] || fail "something was said: $(cat "$log/err")"
  fi
  ! FANIN_ENGINE=pmix "$tool" selftest 2>"$log/err" || fail "PMIx joined without a launcher"
  has err "by PMIx failed"

  # One rank never comes: MPI waits for it already in MPI_Init, until mpirun ends the job; MPICH's
  # does not.
  [[ $mpi == openmpi ]] || return 0
  # shellcheck disable=SC2016  # each rank's own shell asks for its rank
  ! FANIN_TIMEOUT_SECONDS=1 run 2 sh -c '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] &&
    exec "$0" selftest; sleep 4' "$tool" || fail "a missing rank was not missed"
}

test_absent() {
  ! run 3 "$tool" || fail "nobody missed the last rank"
  local rank
  for rank in 0 1; do
    has err "rank $rank: rank $rank waited 1 s, but not all 3 ranks of the MPI communicator have joined"
  done
}

test_late() {
  FANIN_SHARE_MEMORY=0 run 3 "$tool" || fail "a group that is left after MPI: $(cat "$log/err")"
  has out "before: 3"
  has out "after: MPI_Finalize has been called in this process"
  [[ ! -s $log/err ]] || fail "something was said: $(cat "$log/err")"
  run 3 "$tool" || fail "a group of shared memory that is left after MPI: $(cat "$log/err")"
  has out "after: 3"
}

test_fails() {
  local memory rank status=0
  for memory in 0 1; do
    FANIN_SHARE_MEMORY=$memory run 3 "$tool" || fail "ranks that differ and are late: $(cat "$log/err")"
    for rank in 0 1 2; do
      has out "differs, rank $rank: operation 1: rank 0 has shape [1000], rank 2 has [1001]"
      has out "again, rank $rank: 3"
      has out "after, rank $rank: 3"
    done
    for rank in 0 1; do
      grep -qE "^late, rank $rank: .*0.3 s for rank 2.*it last entered operation 2" "$log/out" ||
        fail "rank $rank missed nobody: $(cat "$log/out")"
    done
  done
  # mpirun ends the job, long before the deadline of those who wait.
  FANIN_SHARE_MEMORY=0 run 3 "$tool" dies || status=$?
  ((status != 0 && status != 124)) || fail "a rank that was killed: status $status, $(cat "$log/out")"
  ! grep -qF "without it" "$log/out" || fail "somebody went on: $(cat "$log/out")"
}

# The bytes that each host sent beyond what starting takes, at least and at most.
hosts_sent() {
  local least=$1 most=$2 sent
  while read -r _ _ _ sent _; do
    ((sent >= least && sent <= most)) ||
      fail "a host sent $sent bytes instead of $least to $most: $(cat "$log/out")"
  done < <(grep -E '^host [0-9]+ sent' "$log/err")
}

test_hosts() {
  ((EUID == 0)) || skip "only root can make network namespaces"
  if ! command -v ip >/dev/null || ! command -v tc >/dev/null; then
    skip "ip and tc are not installed"
  fi
  local probe=fanin-probe$$
  ip netns add "$probe" 2>/dev/null || skip "this system allows no network namespaces"
  ip netns del "$probe"

  local on=(timeout 100 "$here/hosts.sh" "$mpi") name elements=1000003
  local bytes=$((4 * elements))
  "${on[@]}" 2 2 1gbit "$tool" selftest >"$log/out" 2>"$log/err" || fail "$(cat "$log/err")"
  has out "4 ranks, mpi"
  has out "0 wrong"

  if [[ $mpi == openmpi ]]; then
    ! FANIN_ENGINE=pmix "${on[@]}" 2 1 1gbit "$tool" selftest >"$log/out" 2>"$log/err" ||
      fail "PMIx joined ranks of two hosts"
    has err "has started 2 ranks, 1 of them on this host"
  fi

  # Every spec name; each host sends all the data once where the levels follow the hosts.
  for name in xring nccl rechd pscpu psgpu nccl/xring nccl/rechd nccl/pscpu pscpu/pscpu direct//ring auto; do
    "${on[@]}" 2 2 1gbit "$tool" selftest --algorithm "$name" --elements "$elements" \
      >"$log/out" 2>"$log/err" || fail "$name: $(cat "$log/err")"
    has out "1 results right, 0 wrong"
    case $name in
      nccl/xring | nccl/rechd | direct//ring | auto) hosts_sent "$bytes" $((bytes * 115 / 100 + 200000)) ;;
    esac
  done
  # Three hosts, not as many ranks as a power of two.
  "${on[@]}" 3 1 1gbit "$tool" selftest >"$log/out" 2>"$log/err" || fail "$(cat "$log/err")"
  has out "3 ranks, mpi"
  has out "0 wrong"
}

"test_$what"
