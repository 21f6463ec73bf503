// What every C++ rank of the benchmarks between processes does: sits down on its core, rewrites its
// tensors, starts with the others, times the call, checks the sum, answers.

#include "rank.h"

#include <fcntl.h>
#include <immintrin.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "memory.h"
#include "start_line.h"
#include "timing.h"

namespace bench {
namespace {

[[noreturn]] void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr)
    throw std::runtime_error(std::string(name) + " is not set; ./bench/run starts ranks");
  return value;
}

struct RankVariables {
  const char* rank;
  const char* size;
};

/// Those that are set: by ./bench/run itself, for Fanin, or by a launcher.
RankVariables rank_variables() {
  for (const RankVariables& names : {RankVariables{"FANIN_RANK", "FANIN_WORLD_SIZE"},
                                     RankVariables{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                     RankVariables{"PMI_RANK", "PMI_SIZE"}})
    if (std::getenv(names.rank) != nullptr) return names;
  return {"BENCH_RANK", "BENCH_SIZE"};
}

/// "0,1,5" as numbers.
std::vector<int> read_cores(const std::string& text) {
  std::vector<int> cores;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) cores.push_back(std::stoi(word));
  return cores;
}

void stay_on(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) throw_errno("sched_setaffinity");
}

std::span<std::byte> map_shared(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat status = {};
  if (file < 0 || ::fstat(file, &status) != 0) throw_errno(path);
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) throw_errno("mmap of " + path);
  ::close(file);
  return {static_cast<std::byte*>(at), size};
}

/// The connection to ./bench/run: lines both ways.
class Driver {
 public:
  explicit Driver(const std::string& path) {
    const int line = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw std::runtime_error(path + " is too long");
    std::memcpy(address.sun_path, path.data(), path.size());
    if (::connect(line, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw_errno(path);
    in_ = ::fdopen(line, "r");
    out_ = ::fdopen(::dup(line), "w");
  }
  ~Driver() {
    std::free(buffer_);
    std::fclose(in_);
    std::fclose(out_);
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// False: it has hung up.
  bool read(std::istringstream& words) {
    if (::getline(&buffer_, &capacity_, in_) <= 0) return false;
    words = std::istringstream(buffer_);
    return true;
  }

  void answer(const std::string& json) {
    std::fprintf(out_, "%s\n", json.c_str());
    std::fflush(out_);
  }

 private:
  std::FILE* in_ = nullptr;
  std::FILE* out_ = nullptr;
  char* buffer_ = nullptr;
  std::size_t capacity_ = 0;
};

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + '"';
}

Request read_request(std::istringstream& words) {
  Request request;
  std::string path;
  words >> request.memory >> path;
  request.counts = read_counts(path);
  return request;
}

float term(int rank, int iteration) { return static_cast<float>(1 + rank + iteration % 3); }

/// The same instructions in every program, however it is compiled: what is timed next takes up to
/// 1.3 times as long after narrow stores.
[[gnu::target("avx")]] void fill(std::span<float> tensor, float value) {
  const __m256 values = _mm256_set1_ps(value);
  std::size_t at = 0;
  for (; at + 8 <= tensor.size(); at += 8) _mm256_storeu_ps(&tensor[at], values);
  for (; at < tensor.size(); ++at) tensor[at] = value;
}

float total(int size, int iteration) {
  float sum = 0;
  for (int rank = 0; rank < size; ++rank) sum += term(rank, iteration);
  return sum;
}

/// Answers "make MEMORY FILE" (the file holds the number of elements of each tensor) with the calls
/// that there are, "run MEMORY CALL ITERATIONS" with the seconds of each, and "drop", which gives
/// all tensors back.
class Rank {
 public:
  Rank(const Seat& seat, const std::function<Task(const Request&)>& make)
      : seat_(seat), make_(make) {}

  std::string answer(std::istringstream& words) {
    std::string verb;
    words >> verb;
    if (verb == "make") return make(words);
    if (verb == "run") return run(words);
    tasks_.clear();
    return "{}";
  }

 private:
  std::string make(std::istringstream& words) {
    const Request request = read_request(words);
    const Task& task = tasks_[request.memory] = make_(request);
    std::string names;
    for (const Call& call : task.calls) names += (names.empty() ? "" : ", ") + quoted(call.name);
    return "{\"calls\": [" + names + "]}";
  }

  std::string run(std::istringstream& words) {
    std::string memory;
    std::size_t index = 0;
    int iterations = 0;
    words >> memory >> index >> iterations;
    const Task& task = tasks_.at(memory);
    const std::function<void()>& call = task.calls.at(index).run;
    std::vector<double> seconds;
    seconds.reserve(static_cast<std::size_t>(iterations));
    for (int iteration = 0; iteration < iterations; ++iteration) {
      rewrite(task.tensors, seat_.rank, iteration);
      bench_wait_at_start(seat_.shared.data(), ++round_, seat_.rank, seat_.size,
                          seat_.size > seat_.core_count ? 1 : 0);
      const double begin = now_seconds();
      call();
      seconds.push_back(now_seconds() - begin);
    }
    check_sums(task.tensors, seat_.size, iterations - 1);
    return "{\"seconds\": " + to_json(seconds) + "}";
  }

  const Seat& seat_;
  const std::function<Task(const Request&)>& make_;
  std::map<std::string, Task> tasks_;  // by memory
  std::uint64_t round_ = 0;
};

}  // namespace

std::size_t Request::element_count() const {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

Seat take_seat() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const RankVariables names = rank_variables();
  Seat seat{.rank = std::stoi(variable(names.rank)),
            .size = std::stoi(variable(names.size)),
            .folder = variable("BENCH_FOLDER"),
            .shared = map_shared(variable("BENCH_SHARED"))};
  const std::vector<int> cores = read_cores(variable("BENCH_CORES"));
  seat.core_count = static_cast<int>(cores.size());
  stay_on(cores.at(static_cast<std::size_t>(seat.rank) % cores.size()));
  return seat;
}

void serve_lines(const Seat& seat, const std::string& version, const Answer& answer) {
  Driver driver(seat.folder + "/driver");
  std::ostringstream hello;
  hello << "{\"rank\": " << seat.rank << ", \"pid\": " << ::getpid()
        << ", \"version\": " << quoted(version) << "}";
  driver.answer(hello.str());
  for (std::istringstream words; driver.read(words);) try {
      driver.answer(answer(words));
    } catch (const std::exception& error) {
      driver.answer("{\"error\": " + quoted(error.what()) + "}");
    }
}

void serve_rank(const Seat& seat, const std::string& version,
                const std::function<Task(const Request&)>& make) {
  Rank rank(seat, make);
  serve_lines(seat, version, [&rank](std::istringstream& words) { return rank.answer(words); });
}

std::vector<std::size_t> read_counts(const std::string& path) {
  std::vector<std::size_t> counts;
  std::ifstream file(path);
  for (std::size_t count = 0; file >> count;) counts.push_back(count);
  if (counts.empty()) throw std::invalid_argument(path + " holds no numbers of elements");
  return counts;
}

void rewrite(std::span<const std::span<float>> tensors, int rank, int iteration) {
  for (const std::span<float> tensor : tensors) fill(tensor, term(rank, iteration));
}

void check_sums(std::span<const std::span<float>> tensors, int size, int iteration) {
  const float wanted = total(size, iteration);
  for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor)
    if (const auto wrong =
            std::ranges::count_if(tensors[tensor], [=](float found) { return found != wanted; }))
      throw std::runtime_error("tensor " + std::to_string(tensor) + " has " +
                               std::to_string(wrong) + " elements that are not the sum, " +
                               std::to_string(wanted));
}

std::string to_json(const std::vector<double>& numbers) {
  std::ostringstream text;
  text << '[';
  for (std::size_t i = 0; i < numbers.size(); ++i) text << (i == 0 ? "" : ",") << numbers[i];
  return text.str() + "]";
}

std::size_t laid_out_bytes(const std::vector<std::size_t>& counts) {
  std::size_t bytes = 0;
  for (const std::size_t count : counts) bytes += (count * sizeof(float) + 63) / 64 * 64;
  return bytes;
}

std::vector<std::span<float>> lay_out(std::byte* place, const std::vector<std::size_t>& counts) {
  std::vector<std::span<float>> tensors;
  for (const std::size_t count : counts) {
    tensors.emplace_back(reinterpret_cast<float*>(place), count);
    place += (count * sizeof(float) + 63) / 64 * 64;
  }
  return tensors;
}

Task make_private_tensors(const std::vector<std::size_t>& counts) {
  const auto memory = std::make_shared<Mapping>(laid_out_bytes(counts), 0);
  return {.tensors = lay_out(memory->data(), counts), .calls = {}, .memory = memory};
}

}  // namespace bench
