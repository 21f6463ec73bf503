#include "distribute/group_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "fanin/context.h"
#include "transports/epoch.h"

namespace fanin {
namespace {

// Calls that are kept bound on each lane for the next ones like them.
constexpr std::size_t kMostCalls = 512;

/// Another channel of all ranks.
std::unique_ptr<Transport> open_beside(Transport& transport, int channel) {
  std::vector<int> ranks(static_cast<std::size_t>(transport.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return transport.open(channel, 0, ranks, 0);
}

/// "all_reduce of float32 [4] by direct (operation 3 of epoch 1, step 7, pack 2 of 5)".
std::string describe_call(std::string_view text, const Ticket& ticket,
                          std::optional<std::int64_t> step, std::string_view label) {
  std::string which = fmt::format("operation {}", ticket.number);
  if (ticket.epoch != 0) which += fmt::format(" of epoch {}", ticket.epoch);
  if (step) which += fmt::format(", step {}", *step);
  if (!label.empty()) which += fmt::format(", {}", label);
  return fmt::format("{} ({})", text, which);
}

// How often a group shrinks: a few times, if at all.
constexpr int kShrinkBits = 16;

}  // namespace

Group::State::State(std::unique_ptr<Transport> transport, std::chrono::duration<double> timeout)
    : timeout_(timeout),
      commons_(std::make_shared<GroupCommons>()),
      lanes_{Bench{Lane(nullptr)}, Bench{Lane(open_beside(*transport, 1), 1)}},
      post_(open_beside(*transport, 2), timeout) {
  lanes_.front().lane = Lane(std::move(transport));
  lanes_.back().lane.set_common_windows(this->transport());
  if (!this->transport().registered(0).empty())
    commons_->registered = std::make_shared<RegisteredPool>(this->transport());
  pad_ = std::make_unique<Pad>(commons_->registered);
  automatic_ = choose_algorithms({this->transport().hosts(), this->transport().cores()});
  tell_lanes_of_each_other();
}

Group::State::State(std::array<std::unique_ptr<Transport>, kChannelsOfGroup> transports,
                    std::chrono::duration<double> timeout, std::shared_ptr<GroupCommons> commons,
                    std::uint64_t first_epoch)
    : timeout_(timeout),
      commons_(std::move(commons)),
      lanes_{Bench{Lane(std::move(transports[0]))}, Bench{Lane(std::move(transports[1]), 1)}},
      post_(std::move(transports[2]), timeout),
      pad_(std::make_unique<Pad>(commons_->registered)),
      automatic_(choose_algorithms({transport().hosts(), transport().cores()})),
      first_epoch_(first_epoch) {
  // What earlier groups have left on the channels counts as of earlier epochs.
  transport().begin_epoch(first_epoch);
  lanes_.back().lane.set_common_windows(transport());
  tell_lanes_of_each_other();
}

Buffer Group::State::allocate(std::size_t bytes) {
  if (commons_->registered) return commons_->registered->allocate(bytes);
  return Context::process().buffers().allocate(bytes);
}

/// What a rank does on one of them is a sign of life for those who wait on another.
void Group::State::tell_lanes_of_each_other() {
  Transport& first = lanes_.front().lane.transport();
  Transport& second = lanes_.back().lane.transport();
  first.set_beside({&second});
  second.set_beside({&first});
  post_.transport().set_beside({&first, &second});
}

Ticket Group::State::next_ticket(const std::optional<std::uint64_t>& epoch) {
  lanes_.front().lane.listen();
  if (const std::uint64_t now = transport().epoch(); now != epoch_) {
    epoch_ = now;
    operation_count_ = 0;
  }
  if (epoch && *epoch != epoch_)
    throw_epoch_end(transport().end_of(*epoch), {.epoch = *epoch, .describe = [] {
                                                   return "an operation that had not begun";
                                                 }});
  return {epoch_, ++operation_count_};
}

BoundCall& Group::State::bind(Bench& bench, Request request) {
  auto& calls = bench.calls;
  for (auto call = calls.begin(); call != calls.end(); ++call)
    if (call->request() == request) {
      calls.splice(calls.begin(), calls, call);
      return calls.front();
    }
  calls.emplace_front(std::move(request), bench.lane, commons_->book, *pad_, unseen_habit_,
                      Context::process());
  if (calls.size() > kMostCalls) calls.pop_back();
  return calls.front();
}

Call Group::State::make_call(const Ticket& ticket, const AllReduceOptions& options,
                             std::string text) const {
  return {.epoch = ticket.epoch,
          .timeout = options.timeout.value_or(timeout_),
          .describe = [text = std::move(text), ticket, step = options.step, label = options.label] {
            return describe_call(text, ticket, step, label);
          }};
}

void Group::State::refuse(Bench& bench, const Ticket& ticket, std::string_view sentence) {
  Call call = make_call(ticket, {}, "telling that arguments were refused");
  end_epoch_if_thrown(bench.lane, ticket,
                      [&] { bench.lane.refuse(ticket, refusal_note(sentence), call); });
}

void Group::State::refuse(std::string_view sentence, const std::optional<std::uint64_t>& epoch) {
  const Ticket ticket = next_ticket(epoch);
  refuse(take_bench(ticket), ticket, sentence);
}

void Group::State::meet(Lane& lane, const Ticket& ticket, const Request& request,
                        std::optional<std::int64_t> step, std::span<const std::int64_t> numbers,
                        Call& call) {
  Lane::Entry entry{.fingerprint = fingerprint_of(fingerprint_of(request), step), .words = {}};
  lane.begin(ticket, call);
  if (numbers.size() <= entry.words.size()) {
    std::ranges::copy(numbers, entry.words.begin());
  } else {
    const std::span<std::byte> note =
        lane.note(transport().rank(), ticket).first(numbers.size_bytes());
    std::ranges::copy(std::as_bytes(numbers), note.begin());
    entry.attached = note;
  }
  if (!lane.enter(ticket, entry, call))
    lane.compare(ticket, to_note(request, step, lane.note(0, ticket).size() / 2), call);
}

std::vector<std::int64_t> Group::State::told_by(Lane& lane, int rank, const Ticket& ticket,
                                                std::size_t count) {
  std::vector<std::int64_t> numbers(count);
  const bool are_words = count <= Lane::Entry().words.size();
  for (std::size_t i = 0; are_words && i < count; ++i)
    numbers[i] = static_cast<std::int64_t>(lane.word(rank, ticket, i));
  if (!are_words)
    std::memcpy(numbers.data(), lane.note(rank, ticket).data(), count * sizeof(std::int64_t));
  return numbers;
}

void Group::State::run(Bench& bench, const Ticket& ticket, BoundCall& bound,
                       const AllReduceOptions& options, Precedence::Place& place, bool is_alone) {
  const auto text = [&] {
    return describe_call(describe(bound.request()), ticket, options.step, options.label);
  };
  Call call{.epoch = ticket.epoch,
            .timeout = options.timeout.value_or(timeout_),
            .describe = std::cref(text),
            .in_background = options.in_background,
            .is_alone = is_alone,
            .place = &place};
  try {
    end_epoch_if_thrown(bench.lane, ticket, [&] {
      bound.run(bench.lane, ticket, options.step, bench.inputs, bench.outputs, call);
    });
  } catch (const InvalidArgument&) {
    throw;  // nobody has begun
  } catch (const std::exception&) {
    bound.give_up(bench.lane, bench.outputs);
    throw;
  }
}

void Group::State::barrier(const MoveOptions& options) {
  const Ticket ticket = next_ticket(options.epoch);
  Bench& bench = take_bench(ticket);
  check_or_refuse(bench, ticket, [&] { check_timeout(options.timeout); });
  const Request request;
  Call call =
      make_call(ticket, {.step = options.step, .timeout = options.timeout, .label = options.label},
                describe(request));
  call.in_background = options.in_background;
  end_epoch_if_thrown(bench.lane, ticket,
                      [&] { meet(bench.lane, ticket, request, options.step, {}, call); });
}

std::optional<Group> Group::State::subgroup(std::span<const int> ranks) {
  const Ticket ticket = next_ticket();
  Bench& bench = take_bench(ticket);
  check_or_refuse(bench, ticket, [&] { check_ranks(ranks, transport().size()); });
  const Request request{.operation = Request::Operation::kSubgroup,
                        .ranks = std::vector<int>(ranks.begin(), ranks.end())};
  Call call = make_call(ticket, {}, describe(request));
  std::optional<Group> group;
  end_epoch_if_thrown(bench.lane, ticket, [&] {
    const std::array mine = {static_cast<std::int64_t>(transport().used_channels()),
                             static_cast<std::int64_t>(transport().last_epoch())};
    meet(bench.lane, ticket, request, std::nullopt, mine, call);
    std::uint64_t used = 0;
    std::uint64_t first_epoch = 0;
    for (const int rank : ranks) {
      const std::vector<std::int64_t> told = told_by(bench.lane, rank, ticket, mine.size());
      used |= static_cast<std::uint64_t>(told[0]);
      first_epoch = std::max(first_epoch, static_cast<std::uint64_t>(told[1]) + 1);
    }
    const int channel = find_free_channel(used);
    const bool is_member = std::ranges::find(ranks, transport().rank()) != ranks.end();
    if (is_member)
      group = open(channel, ranks, flag_value(ticket.epoch, ticket.number), first_epoch);
  });
  barrier({.epoch = ticket.epoch});  // all have opened it
  return group;
}

Group Group::State::open(int channel, std::span<const int> ranks, std::uint64_t opening,
                         std::uint64_t first_epoch) {
  const auto open_next = [&](int next) {
    return transport().open(channel + next, channel, ranks, opening);
  };
  return Group(std::make_unique<State>(std::array{open_next(0), open_next(1), open_next(2)},
                                       timeout_, commons_, first_epoch));
}

Group Group::State::shrink() {
  for (int lane = 0; lane < Lane::kCount; ++lane)
    if (has_handles_) progress_.wait_for_lane(lane);
  const std::uint64_t generation = (first_epoch_ << kShrinkBits) + shrink_count_ + 1;
  const Survivors survivors = find_survivors(transport(), generation, timeout_);
  ++shrink_count_;  // whoever comes too late for the others tries the same again
  Group group = open(survivors.channel, survivors.ranks, generation, survivors.first_epoch);
  meet_survivors(transport(), generation, survivors, timeout_);
  return group;
}

}  // namespace fanin
