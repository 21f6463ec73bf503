// A user's program: includes every public header, uses memory, threads and devices.

#include <fanin/all.h>

#include <cstdio>

int main() {
  fanin::Context context({.thread_count = 2});
  const auto tensor = fanin::Tensor::of<float>({1, 2, 3}, {3}, fanin::parse_device("/gpu:1"));
  std::printf("%s on %s, %d threads\n", to_string(tensor.shape()).c_str(),
              to_string(tensor.device()).c_str(), context.thread_count());
}
