#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// One rank of a participant in a benchmark between processes, as its environment describes it.
struct Seat {
  int rank = 0;
  int size = 1;
  int core_count = 1;
  std::string folder;           // for this participant's files
  std::span<std::byte> shared;  // by all its ranks; begins with a StartLine, the rest is theirs
};

/// Reads rank and size from the variables of whoever started it and the rest from BENCH_...; keeps
/// this process on its core, and lets it end with the program that started it. Call it before
/// anything makes threads.
Seat take_seat();

/// What is reduced: tensors of float32, in memory of any kind or of the participant's own.
struct Request {
  std::string memory;  // "private" or "registered"
  std::vector<std::size_t> counts;

  std::size_t element_count() const;
};

/// One way to sum the tensors of all ranks in place.
struct Call {
  std::string name;
  std::function<void()> run;
};

struct Task {
  std::vector<std::span<float>> tensors;
  std::vector<Call> calls;
  std::shared_ptr<void> memory;  // of the tensors, if the calls do not hold it
};

/// Answers the driver's lines until it hangs up, each with a line of JSON; between them the rank
/// sleeps. What `answer` throws is an answer: the participant cannot do that.
using Answer = std::function<std::string(std::istringstream& words)>;
void serve_lines(const Seat& seat, const std::string& version, const Answer& answer);

/// The same for those who only sum: the driver asks them to make tensors and to time calls.
void serve_rank(const Seat& seat, const std::string& version,
                const std::function<Task(const Request&)>& make);

/// The numbers of elements in a file that the driver wrote.
std::vector<std::size_t> read_counts(const std::string& path);

/// Writes a rank's terms of one iteration; they are others in the next, so that an old sum is not a
/// right one.
void rewrite(std::span<const std::span<float>> tensors, int rank, int iteration);

/// Throws if not all elements are the sum of all ranks' terms.
void check_sums(std::span<const std::span<float>> tensors, int size, int iteration);

std::string to_json(const std::vector<double>& numbers);

/// Tensors one after the other in mapped memory of this process, each on a border of 64 bytes.
/// Calls are to be added.
Task make_private_tensors(const std::vector<std::size_t>& counts);

/// The same at a given place, which must have room for them.
std::vector<std::span<float>> lay_out(std::byte* place, const std::vector<std::size_t>& counts);

/// The room that lay_out() needs.
std::size_t laid_out_bytes(const std::vector<std::size_t>& counts);

}  // namespace bench
