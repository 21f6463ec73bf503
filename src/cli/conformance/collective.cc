// CollectiveAllReduce: one object for each worker, each on a thread of its own.

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <set>
#include <thread>

#include "cli/conformance/cross_device.h"
#include "cli/conformance/systems.h"
#include "core/require.h"
#include "fanin/collective_all_reduce.h"

namespace fanin::cli {
namespace {

using nlohmann::json;

/// Runs `work(worker)` on a thread for each of these workers; throws the first error of all, by
/// worker.
void on_workers(const std::set<int>& workers, const std::function<void(int)>& work) {
  std::vector<std::exception_ptr> errors(workers.empty() ? 0 : *workers.rbegin() + 1U);
  {
    std::vector<std::jthread> threads;
    threads.reserve(workers.size());
    for (const int worker : workers)
      threads.emplace_back([&, worker] {
        try {
          work(worker);
        } catch (...) {
          errors[static_cast<std::size_t>(worker)] = std::current_exception();
        }
      });
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

/// The objects of all workers, and their groups.
class Workers {
 public:
  explicit Workers(const json& arguments) {
    std::vector<Device> devices;
    for (const json& device : arguments.at("devices"))
      devices.push_back(parse_device(device.get<std::string>()));
    const int group_size = arguments.at("group_size").get<int>();
    const int count = std::max(1, group_size / static_cast<int>(devices.size()));
    groups_ = in_process(count, std::chrono::minutes(2));
    const CommunicationOptions options = parse_options(arguments.value("options", json::object()));
    for (int worker = 0; worker < count; ++worker) {
      if (count > 1)
        for (Device& device : devices) device.task = worker;
      ops_.push_back(std::make_unique<CollectiveAllReduce>(
          groups_[static_cast<std::size_t>(worker)], devices, options, group_size));
      all_.insert(worker);
    }
    inputs_.resize(ops_.size());
  }

  int count() const { return static_cast<int>(ops_.size()); }
  const std::set<int>& all() const { return all_; }
  const CollectiveAllReduce& ops(int worker) const {
    return *ops_[static_cast<std::size_t>(worker)];
  }

  /// The answers of all workers as one: `each(worker)` gives that of one, or nothing.
  std::optional<json> gather(const std::function<std::optional<json>(int, Inputs&)>& each) {
    std::vector<std::optional<json>> answers(ops_.size());
    on_workers(all_, [&](int worker) {
      const auto at = static_cast<std::size_t>(worker);
      answers[at] = each(worker, inputs_[at]);
    });
    for (const Inputs& inputs : inputs_)
      require(!inputs.have_changed(), ErrorKind::kBadOption, "an input was changed");
    if (!answers.front() || count() == 1) return answers.front();
    json whole = *answers.front();
    for (std::size_t worker = 1; worker < answers.size(); ++worker) {
      if (whole.contains("result")) join(whole["result"], (*answers[worker])["result"]);
      if (whole.contains("results"))
        for (std::size_t i = 0; i < whole["results"].size(); ++i)
          join(whole["results"][i], (*answers[worker])["results"][i]);
    }
    return whole;
  }

 private:
  /// Adds another worker's devices; all have the same value, or it shows.
  static void join(json& whole, const json& other) {
    whole["kind"] = "mirrored";
    for (const json& device : other.at("devices")) whole["devices"].push_back(device);
    if (whole.at("value") != other.at("value"))
      whole["value"] = json{{"differs", {whole["value"], other.at("value")}}};
  }

  std::vector<Group> groups_;
  std::vector<std::unique_ptr<CollectiveAllReduce>> ops_;
  std::set<int> all_;
  std::vector<Inputs> inputs_;  // of each: values are made by its thread
};

/// Which of the ranks an error names.
std::vector<int> named(const std::string& sentence, const std::set<int>& ranks) {
  std::vector<int> found;
  for (const int rank : ranks) {
    const std::string name = fmt::format("rank {}", rank);
    for (std::size_t at = sentence.find(name); at != std::string::npos;
         at = sentence.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if (end < sentence.size() && std::isdigit(static_cast<unsigned char>(sentence[end])) != 0)
        continue;
      found.push_back(rank);
      break;
    }
  }
  return found;
}

json run_absent(Workers& workers, const json& arguments) {
  const auto timeout =
      std::chrono::duration<double>(arguments.at("options").at("timeout_seconds").get<double>());
  const auto participating = arguments.at("participating").get<std::set<int>>();
  std::set<int> absent;
  for (const int worker : workers.all())
    if (!participating.contains(worker)) absent.insert(worker);
  json call = arguments;
  call["destinations"] = {{"kind", "self"}};
  std::vector<json> firsts(static_cast<std::size_t>(workers.count()));
  on_workers(participating, [&](int worker) {
    json& first = firsts[static_cast<std::size_t>(worker)];
    const auto start = std::chrono::steady_clock::now();
    try {
      Inputs inputs;
      run_cross_device(workers.ops(worker), "reduce", call, inputs, worker);
      first = "no error";
    } catch (const Error& error) {
      first = {{"code", name(error.code())},
               {"kind", name(error.kind())},
               {"absent_ranks", named(error.what(), absent)}};
    }
    if (std::chrono::steady_clock::now() - start > timeout + std::chrono::seconds(2))
      first["late"] = true;
  });
  json first = firsts[static_cast<std::size_t>(*participating.begin())];
  for (const int worker : participating)
    if (firsts[static_cast<std::size_t>(worker)] != first) first = firsts;
  const auto second = workers.gather([&](int worker, Inputs& inputs) {
    return run_cross_device(workers.ops(worker), "reduce", call, inputs, worker);
  });
  return {{"first", first}, {"second", *second}};
}

/// Every rank must fail; the error is that of the first, unless another's is of another kind.
std::optional<json> run_disagreeing(Workers& workers, const json& arguments) {
  const json& ranks = arguments.at("ranks");
  std::vector<std::optional<InvalidArgument>> errors(ranks.size());
  on_workers(workers.all(), [&](int worker) {
    const auto at = static_cast<std::size_t>(worker);
    json call = arguments;
    Device device = parse_device(arguments.at("devices")[0].get<std::string>());
    device.task = worker;
    call["value"] = {
        {"per_replica", {{{"device", to_string(device)}, {"value", ranks[at].at("value")}}}}};
    call["destinations"] = {{"kind", "self"}};
    if (ranks[at].contains("reduce_op")) call["reduce_op"] = ranks[at].at("reduce_op");
    try {
      Inputs own;
      run_cross_device(workers.ops(worker), "reduce", call, own, worker);
    } catch (const InvalidArgument& error) {
      errors[at] = error;
    }
  });
  for (const auto& error : errors)
    if (!error || error->kind() != errors.front()->kind())
      return json{{"ok", "a rank saw no error, or another one"}};
  throw *errors.front();
}

}  // namespace

std::optional<json> run_collective_all_reduce(std::string_view op, const json& arguments,
                                              Inputs& /*inputs*/) {
  Workers workers(arguments);
  if (op == "absent_then_retry") return run_absent(workers, arguments);
  if (op == "ranks_disagree") return run_disagreeing(workers, arguments);
  return workers.gather([&](int worker, Inputs& own) {
    return run_cross_device(workers.ops(worker), op, arguments, own,
                            workers.count() == 1 ? std::nullopt : std::optional(worker));
  });
}

}  // namespace fanin::cli
