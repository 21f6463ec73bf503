#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// Stands for a backward pass, which takes its time gradient by gradient.
class Backward {
 public:
  virtual ~Backward() = default;
  virtual void begin() = 0;

  /// Returns when this share of it is done; shares grow from 0 to 1.
  virtual void go_on_until(double share) = 0;
};

/// Sleeps until the time of each share, as the caller of an accelerator does: what comes between
/// does not make it longer.
class WaitingBackward : public Backward {
 public:
  explicit WaitingBackward(double seconds) : seconds_(seconds) {}
  void begin() override;
  void go_on_until(double share) override;

 private:
  double seconds_;
  std::int64_t begin_ = 0;  // by the monotonic clock, in nanoseconds
};

/// Computes on the caller's core: so many sweeps over 256 KiB of its own.
class ComputingBackward : public Backward {
 public:
  explicit ComputingBackward(std::uint64_t sweep_count);
  void begin() override { done_ = 0; }
  void go_on_until(double share) override;

 private:
  std::uint64_t sweep_count_;
  std::uint64_t done_ = 0;
  std::vector<float> numbers_;
};

/// "waits SECONDS" or "computes SWEEPS".
std::unique_ptr<Backward> make_backward(const std::string& kind, double amount);

/// About how many sweeps take so long, as of now.
double sweeps_in(double seconds);

}  // namespace bench
