// One rank of oneCCL in ./bench/run allreduce, started by Intel MPI's mpiexec. The first rank
// leaves the address at which all meet in a file.

#include <chrono>
#include <filesystem>
#include <fstream>
#include <oneapi/ccl.hpp>
#include <stdexcept>
#include <string>
#include <thread>

#include "../run_server.h"
#include "packing.h"

namespace bench {
namespace {

using Store = ccl::shared_ptr_class<ccl::kvs>;

Store open_store(const std::string& path) {
  Store store = ccl::create_main_kvs();
  const ccl::kvs::address_type address = store->get_address();
  std::ofstream(path + ".new", std::ios::binary).write(address.data(), address.size());
  std::filesystem::rename(path + ".new", path);
  return store;
}

Store find_store(const std::string& path) {
  for (int tries = 0; !std::filesystem::exists(path); ++tries) {
    if (tries == 3000) throw std::runtime_error("the first rank did not write " + path);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ccl::kvs::address_type address;
  std::ifstream(path, std::ios::binary).read(address.data(), address.size());
  return ccl::create_kvs(address);
}

void serve() {
  const Seat seat = take_seat();
  ccl::init();
  const std::string path = seat.folder + "/store";
  const Store store = seat.rank == 0 ? open_store(path) : find_store(path);
  const ccl::communicator ranks = ccl::create_communicator(seat.size, seat.rank, store);
  const auto all_reduce = [&ranks](float* data, std::size_t count) {
    ccl::allreduce(data, data, count, ccl::reduction::sum, ranks).wait();
  };
  const ccl::library_version version = ccl::get_library_version();
  serve_rank(seat,
             std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
                 std::to_string(version.update),
             [&](const Request& request) { return make_peer_task(request, all_reduce); });
}

}  // namespace
}  // namespace bench

int main() { return bench::run_server("oneccl_allreduce", bench::serve); }
