#include "training/digits_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <variant>
#include <vector>

#include "core/require.h"
#include "fanin/aggregator.h"
#include "training/matrix_rows.h"

namespace fanin::training {
namespace {

/// A kernel and a bias, by their places in lists of parameters.
struct Layer {
  std::size_t kernel;
  std::size_t bias;
};
constexpr Layer kPatch{kPatchKernel, kPatchBias};
constexpr Layer kHidden1{kHidden1Kernel, kHidden1Bias};
constexpr Layer kHidden2{kHidden2Kernel, kHidden2Bias};
constexpr Layer kOutput{kOutputKernel, kOutputBias};

/// The rows of an image's tokens are added up and divided by this, which leaves the sum in the
/// range of the other features.
constexpr float kTokenScale = 1.0F / 8;

Matrix patch_columns(const Matrix& features, std::size_t position) {
  return columns(features, position * kPatchFeatureCount, kPatchFeatureCount);
}
Matrix embedding_columns(const Matrix& features) {
  return columns(features, kPositionCount * kPatchFeatureCount, kEmbeddingSize);
}

}  // namespace

class DigitsModel::State {
 public:
  State(const Digits& digits, std::span<const TensorView> parameters, std::size_t batch_size,
        AggregationMethod method, Context& context)
      : digits_(digits),
        context_(context),
        method_(method),
        infos_(check_digits(parameters)),
        parameters_(parameters.begin(), parameters.end()),
        batch_size_(batch_size) {
    check(method);
    require(batch_size > 0, ErrorKind::kBadOption,
            "A batch cannot have 0 images: it has at least one");
    const auto width = static_cast<std::size_t>(infos_[kHidden1Bias].shape[0]);
    for (Matrix& patch : patches_) patch = allocate(kPatchPixelCount);
    features_ = allocate(kFeatureCount);
    hidden1_ = allocate(width);
    hidden2_ = allocate(width);
    logits_ = allocate(kClassCount);
    d_features_ = allocate(kFeatureCount);
    d_hidden1_ = allocate(width);
    d_hidden2_ = allocate(width);
    d_logits_ = allocate(kClassCount);
    tokens_.reserve(batch_size * kPixelCount);
    token_ends_.reserve(batch_size);
  }

  Score forward(std::span<const std::size_t> images) {
    require(0 < images.size() && images.size() <= batch_size_, ErrorKind::kBadOption,
            "A batch of {} images cannot run: this network takes 1 to {} at once", images.size(),
            batch_size_);
    for (const std::size_t image : images)
      require(image < digits_.count(), ErrorKind::kIndexOutOfRange,
              "There is no image {}: the set has {}, from 0 on", image, digits_.count());
    begin_batch(images);
    for (std::size_t p = 0; p < kPositionCount; ++p) {
      run(kPatch, patches_[p], patch_columns(features_, p));
      cut_negative(patch_columns(features_, p));
    }
    embed();
    run(kHidden1, features_, hidden1_);
    cut_negative(hidden1_);
    run(kHidden2, hidden1_, hidden2_);
    cut_negative(hidden2_);
    run(kOutput, hidden2_, logits_);
    return score(images);
  }

  void backward(std::span<const TensorView> gradients, const Ready& ready) {
    require(hidden1_.row_count > 0, ErrorKind::kBadOption,
            "There is nothing to go back from: call forward() first, and backward() before "
            "evaluate()");
    check_gradients(gradients, infos_);
    go_back(kOutput, hidden2_, d_logits_, d_hidden2_, gradients, ready);
    cut_gradient(hidden2_, d_hidden2_);
    go_back(kHidden2, hidden1_, d_hidden2_, d_hidden1_, gradients, ready);
    cut_gradient(hidden1_, d_hidden1_);
    go_back(kHidden1, features_, d_hidden1_, d_features_, gradients, ready);
    for (std::size_t p = 0; p < kPositionCount; ++p)
      cut_gradient(patch_columns(features_, p), patch_columns(d_features_, p));
    ready(kPixelEmbedding, embedding_gradient());
    sum_terms(kPatchBias, gradients, ready, [&](std::size_t p, std::span<float> term) {
      sum_rows(patch_columns(d_features_, p), term);
    });
    sum_terms(kPatchKernel, gradients, ready, [&](std::size_t p, std::span<float> term) {
      multiply_transposed(patches_[p], patch_columns(d_features_, p), Chain::kFromZero,
                          to_matrix(term, infos_[kPatchKernel].shape));
    });
  }

  Score evaluate(std::span<const std::size_t> images) {
    Score total;
    for (std::size_t begin = 0; begin < images.size(); begin += batch_size_) {
      const auto some = images.subspan(begin, std::min(batch_size_, images.size() - begin));
      const Score score = forward(some);
      total.loss += score.loss * static_cast<double>(score.image_count);
      total.correct_count += score.correct_count;
      total.image_count += score.image_count;
    }
    if (total.image_count > 0) total.loss /= static_cast<double>(total.image_count);
    use_rows(0);
    return total;
  }

 private:
  /// A row for each image of a batch.
  Matrix allocate(std::size_t column_count) {
    memory_.push_back(context_.buffers().allocate(batch_size_ * column_count * sizeof(float)));
    return {floats(memory_.back().bytes()).data(), 0, column_count, column_count};
  }

  void use_rows(std::size_t count) {
    for (Matrix& patch : patches_) patch.row_count = count;
    for (Matrix* const matrix : {&features_, &hidden1_, &hidden2_, &logits_, &d_features_,
                                 &d_hidden1_, &d_hidden2_, &d_logits_})
      matrix->row_count = count;
  }

  ConstMatrix kernel_of(const Layer& layer) const {
    return to_matrix(floats(parameters_[layer.kernel].bytes), infos_[layer.kernel].shape);
  }

  void begin_batch(std::span<const std::size_t> images) {
    use_rows(images.size());
    tokens_.clear();
    token_ends_.clear();
    for (std::size_t i = 0; i < images.size(); ++i) {
      const auto pixels = digits_.image(images[i]);
      for (std::size_t p = 0; p < kPositionCount; ++p) {
        const std::size_t top = p / kPositionsPerSide * kPatchStride;
        const std::size_t left = p % kPositionsPerSide * kPatchStride;
        for (std::size_t k = 0; k < kPatchPixelCount; ++k) {
          const std::size_t y = top + k / kPatchSide;
          const std::size_t x = left + k % kPatchSide;
          row(patches_[p], i)[k] =
              static_cast<float>(pixels[y * kImageSide + x]) / static_cast<float>(kInkCount - 1);
        }
      }
      for (std::size_t k = 0; k < kPixelCount; ++k)
        if (pixels[k] > 0) tokens_.push_back(static_cast<std::int32_t>(k * kInkCount + pixels[k]));
      token_ends_.push_back(tokens_.size());
    }
  }

  void run(const Layer& layer, const ConstMatrix& x, const Matrix& y) const {
    const auto bias = floats(parameters_[layer.bias].bytes);
    for (std::size_t r = 0; r < y.row_count; ++r) std::ranges::copy(bias, row(y, r).begin());
    multiply(x, kernel_of(layer), Chain::kFromTarget, y);
  }

  void embed() const {
    const Matrix table =
        to_matrix(floats(parameters_[kPixelEmbedding].bytes), infos_[kPixelEmbedding].shape);
    const Matrix sums = embedding_columns(features_);
    std::size_t token = 0;
    for (std::size_t i = 0; i < sums.row_count; ++i) {
      const auto sum = row(sums, i);
      std::ranges::fill(sum, 0.0F);
      for (; token < token_ends_[i]; ++token) {
        const auto from = row(table, static_cast<std::size_t>(tokens_[token]));
        for (std::size_t c = 0; c < kEmbeddingSize; ++c) sum[c] += from[c];
      }
      for (float& each : sum) each *= kTokenScale;
    }
  }

  /// Also fills d_logits_.
  Score score(std::span<const std::size_t> images) {
    const auto count = static_cast<double>(images.size());
    Score total{.image_count = images.size()};
    for (std::size_t i = 0; i < images.size(); ++i) {
      const auto logits = row(logits_, i);
      const std::size_t label = digits_.labels[images[i]];
      const auto largest = std::ranges::max_element(logits);
      if (static_cast<std::size_t>(largest - logits.begin()) == label) ++total.correct_count;
      std::array<double, kClassCount> weights;
      double weight_sum = 0;
      for (std::size_t c = 0; c < kClassCount; ++c) {
        weights[c] = std::exp(static_cast<double>(logits[c]) - static_cast<double>(*largest));
        weight_sum += weights[c];
      }
      total.loss +=
          std::log(weight_sum) + static_cast<double>(*largest) - static_cast<double>(logits[label]);
      for (std::size_t c = 0; c < kClassCount; ++c) {
        const double difference = weights[c] / weight_sum - (c == label ? 1 : 0);
        row(d_logits_, i)[c] = static_cast<float>(difference / count);
      }
    }
    total.loss /= count;
    return total;
  }

  static void hand_over(std::size_t parameter, std::span<const TensorView> gradients,
                        const Ready& ready) {
    const TensorView& place = gradients[parameter];
    ready(parameter, Tensor::view(place.bytes, place.dtype, place.shape));
  }

  /// From dy to dx, which needs the kernel, and only then to the kernel's gradient, with which the
  /// kernel is given out of hand.
  void go_back(const Layer& layer, const Matrix& x, const Matrix& dy, const Matrix& dx,
               std::span<const TensorView> gradients, const Ready& ready) const {
    sum_rows(dy, floats(gradients[layer.bias].bytes));
    hand_over(layer.bias, gradients, ready);
    multiply_by_transposed(dy, kernel_of(layer), Chain::kFromZero, dx);
    multiply_transposed(
        x, dy, Chain::kFromZero,
        to_matrix(floats(gradients[layer.kernel].bytes), infos_[layer.kernel].shape));
    hand_over(layer.kernel, gradients, ready);
  }

  Value embedding_gradient() const {
    const Matrix d_sums = embedding_columns(d_features_);
    Buffer values = context_.buffers().allocate(tokens_.size() * kEmbeddingSize * sizeof(float));
    auto to = floats(values.bytes()).begin();
    std::size_t token = 0;
    for (std::size_t i = 0; i < d_sums.row_count; ++i)
      for (; token < token_ends_[i]; ++token)
        for (const float each : row(d_sums, i)) *to++ = each * kTokenScale;
    const auto count = static_cast<std::int64_t>(tokens_.size());
    return IndexedSlices{
        .values = Tensor(std::move(values), DType::kFloat32, {count, kEmbeddingSize}),
        .indices = Tensor::of<std::int32_t>(tokens_, {count}),
        .dense_shape = infos_[kPixelEmbedding].shape};
  }

  /// A parameter that is used at each position has a gradient of so many terms.
  void sum_terms(std::size_t parameter, std::span<const TensorView> gradients, const Ready& ready,
                 const auto& fill_term) const {
    const TensorView& place = gradients[parameter];
    Aggregator sum(kPositionCount, method_, {.context = &context_});
    for (std::size_t p = 0; p < kPositionCount; ++p) {
      Buffer term = context_.buffers().allocate(place.bytes.size());
      fill_term(p, floats(term.bytes()));
      sum.push(Tensor(std::move(term), DType::kFloat32, place.shape));
    }
    const auto total = std::get<Tensor>(*sum.finish());
    std::ranges::copy(total.bytes(), place.bytes.begin());
    hand_over(parameter, gradients, ready);
  }

  const Digits& digits_;
  Context& context_;
  AggregationMethod method_;
  std::vector<ParameterInfo> infos_;
  std::vector<TensorView> parameters_;
  std::size_t batch_size_;
  std::vector<Buffer> memory_;  // of the matrices, which have a row for each image of the batch
  std::array<Matrix, kPositionCount> patches_;
  Matrix features_;
  Matrix hidden1_;
  Matrix hidden2_;
  Matrix logits_;
  Matrix d_features_;  // the gradients of the loss by the four above
  Matrix d_hidden1_;
  Matrix d_hidden2_;
  Matrix d_logits_;
  std::vector<std::int32_t> tokens_;     // of all images of the batch ...
  std::vector<std::size_t> token_ends_;  // ... and where those of each end
};

DigitsModel::DigitsModel(const Digits& digits, std::span<const TensorView> parameters,
                         std::size_t batch_size, AggregationMethod method, Context& context)
    : state_(std::make_unique<State>(digits, parameters, batch_size, method, context)) {}

DigitsModel::~DigitsModel() = default;

Score DigitsModel::forward(std::span<const std::size_t> images) { return state_->forward(images); }

void DigitsModel::backward(std::span<const TensorView> gradients, const Ready& ready) {
  state_->backward(gradients, ready);
}

Score DigitsModel::evaluate(std::span<const std::size_t> images) {
  return state_->evaluate(images);
}

}  // namespace fanin::training
