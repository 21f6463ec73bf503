// Joins the group of the environment and meets the others COUNT times, a millisecond apart. Says on
// stderr what went wrong, and returns 2 for bad input and 3 for a deadline or a dead peer.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "fanin/error.h"
#include "fanin/join.h"

int main(int argc, char** argv) {
  try {
    const long count = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1;
    fanin::Group group = fanin::join(fanin::JoinOptions::from_environment());
    for (long round = 0; round < count; ++round) {
      group.barrier();
      if (round == 0) {
        std::printf("met\n");
        std::fflush(stdout);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::printf("done\n");
    return 0;
  } catch (const fanin::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.code() == fanin::ErrorCode::kInvalidArgument ? 2
           : error.code() == fanin::ErrorCode::kUnavailable   ? 1
                                                              : 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
