#!/usr/bin/env bash
# Runs a program as MPI ranks on "hosts" that are network namespaces of this machine, with wires of a
# given rate between them and one bridge; needs root, and no ssh. Prints the bytes that crossed each
# wire to standard error. With --on it takes hosts that tests/mpi/wires.sh has made, and prints nothing.
#   tests/mpi/hosts.sh MPI HOSTS RANKS_PER_HOST RATE PROGRAM...
#   tests/mpi/hosts.sh --on ID MPI HOSTS RANKS_PER_HOST PROGRAM...
#   tests/mpi/hosts.sh openmpi 2 2 1gbit ./fanin selftest
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

is_made=false
if [[ ${1-} == --on ]]; then
  is_made=true FANIN_HOSTS=${2-}
  shift "$(($# < 2 ? $# : 2))"
fi
if $is_made; then least=4; else least=5; fi
if (($# < least)); then
  sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
mpi=$1 hosts=$2 ranks=$3
shift 3
if ! $is_made; then
  rate=$1 FANIN_HOSTS=f$$
  shift
  trap '"$here/wires.sh" remove "$FANIN_HOSTS" "$hosts"' EXIT
  "$here/wires.sh" make "$FANIN_HOSTS" "$hosts" "$rate"
fi
export FANIN_HOSTS

list=()
for ((host = 1; host <= hosts; ++host)); do list+=("10.83.0.$host:$ranks"); done
hosts_list=$(IFS=,; echo "${list[*]}")
case $mpi in
  openmpi)
    start=(mpirun.openmpi --allow-run-as-root --oversubscribe -np $((hosts * ranks))
      --host "$hosts_list" --mca plm_rsh_agent "$here/agent.sh"
      --mca btl 'self,vader,tcp' --mca pml ob1 --mca mpi_yield_when_idle 1
      --mca btl_tcp_if_include 10.83.0.0/24 --mca oob_tcp_if_include 10.83.0.0/24) ;;
  mpich)
    # Otherwise UCX finds that the hosts are one.
    export UCX_TLS=self,tcp
    start=(mpirun.mpich -np $((hosts * ranks)) -launcher rsh -launcher-exec "$here/agent.sh"
      -hosts "$hosts_list" -iface wire) ;;
  *)
    echo "hosts.sh: unknown MPI '$mpi'; it is openmpi or mpich" >&2
    exit 2 ;;
esac
# shellcheck disable=SC2016  # the host's own shell has the arguments
on_first=(ip netns exec "$FANIN_HOSTS-1" unshare --uts sh -c 'hostname fanin-host1; exec "$@"' - "${start[@]}")
$is_made && exec "${on_first[@]}" "$@"

count() { ip netns exec "$FANIN_HOSTS-$1" cat "/sys/class/net/wire/statistics/$2_bytes"; }
before=()
for ((host = 1; host <= hosts; ++host)); do before+=("$(count "$host" tx)"); done
status=0
"${on_first[@]}" "$@" || status=$?
for ((host = 1; host <= hosts; ++host)); do
  echo "host $host sent $(($(count "$host" tx) - before[host - 1])) bytes" >&2
done
exit "$status"
