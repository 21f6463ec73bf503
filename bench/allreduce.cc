// One rank of Fanin in ./bench/run allreduce: joins the group that its environment describes, and
// sums tensors in place.

#include "fanin/join.h"
#include "fanin_task.h"
#include "run_server.h"

namespace bench {
namespace {

void serve() {
  const Seat seat = take_seat();
  fanin::Group group = fanin::join(fanin::JoinOptions::from_environment());
  serve_rank(seat, std::string(group.transport()),
             [&group](const Request& request) { return make_task(group, request); });
}

}  // namespace
}  // namespace bench

int main() { return bench::run_server("bench_allreduce", bench::serve); }
