#include <fanin/add_n.h>

#include <cstdio>

int main() {
  using fanin::Tensor;
  const Tensor terms[] = {Tensor::of<float>({1, 2, 3}, {3}), Tensor::of<float>({10, 20, 30}, {3}),
                          Tensor::of<float>({100, 200, 300}, {3})};
  const auto sum = fanin::add_n(terms).to_vector<float>();
  std::printf("%g %g %g\n", sum[0], sum[1], sum[2]);  // 111 222 333
}
