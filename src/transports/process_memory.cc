#include "transports/process_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>

namespace fanin {

int read_memory_of(pid_t process, std::span<const Transport::Fetched> pieces) {
  constexpr std::size_t kMostAtOnce = 64;
  std::array<iovec, kMostAtOnce> here;
  std::array<iovec, kMostAtOnce> there;
  while (!pieces.empty()) {
    const std::size_t count = std::min(kMostAtOnce, pieces.size());
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      here[i] = {pieces[i].to, pieces[i].bytes};
      there[i] = {std::bit_cast<void*>(pieces[i].from), pieces[i].bytes};
      bytes += pieces[i].bytes;
    }
    const ssize_t read = ::process_vm_readv(process, here.data(), count, there.data(), count, 0);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return errno;
    if (static_cast<std::size_t>(read) != bytes) return EFAULT;
    pieces = pieces.subspan(count);
  }
  return 0;
}

}  // namespace fanin
