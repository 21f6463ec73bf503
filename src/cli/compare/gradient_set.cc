#include "cli/compare/gradient_set.h"

#include <fmt/format.h>

#include "core/require.h"

namespace fanin::cli {
namespace {

using Gradients = std::vector<GradientShape>;

/// A convolution comes with the scale and offset of its normalisation.
void add_convolution(Gradients& gradients, const std::string& name, std::int64_t in,
                     std::int64_t out, std::int64_t side) {
  gradients.push_back({name + "/kernel", {side, side, in, out}});
  gradients.push_back({name + "/scale", {out}});
  gradients.push_back({name + "/offset", {out}});
}

/// The 161 tensors that ResNet-50 trains, 25.6 million elements in all.
Gradients resnet50() {
  struct Stage {
    std::int64_t width;
    int blocks;
  };
  Gradients gradients;
  add_convolution(gradients, "stem", 3, 64, 7);
  std::int64_t in = 64;
  int stage_number = 0;
  for (const Stage& stage : {Stage{64, 3}, Stage{128, 4}, Stage{256, 6}, Stage{512, 3}}) {
    ++stage_number;
    for (int block = 0; block < stage.blocks; ++block) {
      const std::string name = fmt::format("stage{}/block{}", stage_number, block);
      const std::int64_t out = 4 * stage.width;
      add_convolution(gradients, name + "/reduce", in, stage.width, 1);
      add_convolution(gradients, name + "/conv", stage.width, stage.width, 3);
      add_convolution(gradients, name + "/expand", stage.width, out, 1);
      if (block == 0) add_convolution(gradients, name + "/shortcut", in, out, 1);
      in = out;
    }
  }
  gradients.push_back({"classifier/kernel", {2048, 1000}});
  gradients.push_back({"classifier/bias", {1000}});
  return gradients;
}

/// The 199 tensors that BERT-base trains, 109.5 million elements in all.
Gradients bert_base() {
  constexpr std::int64_t kWidth = 768;
  Gradients gradients = {{"embeddings/word", {30522, kWidth}},
                         {"embeddings/position", {512, kWidth}},
                         {"embeddings/type", {2, kWidth}},
                         {"embeddings/scale", {kWidth}},
                         {"embeddings/offset", {kWidth}}};
  const auto add_dense = [&](const std::string& name, std::int64_t in, std::int64_t out) {
    gradients.push_back({name + "/kernel", {in, out}});
    gradients.push_back({name + "/bias", {out}});
  };
  const auto add_normalisation = [&](const std::string& name) {
    gradients.push_back({name + "/scale", {kWidth}});
    gradients.push_back({name + "/offset", {kWidth}});
  };
  for (int layer = 0; layer < 12; ++layer) {
    const std::string name = fmt::format("layer{}", layer);
    for (const char* part : {"/query", "/key", "/value", "/output"})
      add_dense(name + part, kWidth, kWidth);
    add_normalisation(name + "/attention");
    add_dense(name + "/up", kWidth, 4 * kWidth);
    add_dense(name + "/down", 4 * kWidth, kWidth);
    add_normalisation(name + "/final");
  }
  add_dense("pooler", kWidth, kWidth);
  return gradients;
}

}  // namespace

std::vector<GradientShape> model_gradients(std::string_view model) {
  if (model == "resnet50") return resnet50();
  if (model == "bert-base") return bert_base();
  throw InvalidArgument(
      ErrorKind::kBadOption,
      fmt::format("\"{}\" is not a model that is known; use resnet50 or bert-base", model));
}

}  // namespace fanin::cli
