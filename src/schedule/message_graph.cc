#include "schedule/message_graph.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "schedule/window_program.h"

namespace fanin {
namespace {

class GraphBuilder {
 public:
  GraphBuilder(const MessageProgram& program, const Schedule& schedule)
      : program_(program), schedule_(schedule) {}

  std::vector<Work> build() {
    add_messages();
    for (int place = 0; place < schedule_.place_count(); ++place) {
      writers_.clear();
      for (const auto& action : program_.places[static_cast<std::size_t>(place)])
        std::visit([&](const auto& each) { add(place, each); }, action);
    }
    return std::move(graph_);
  }

 private:
  void add_messages() {
    std::vector<std::tuple<int, int, const MessageProgram::Send*>> sends;  // (ordinal, place, send)
    for (int place = 0; place < schedule_.place_count(); ++place) {
      int ordinal = 0;
      for (const auto& action : program_.places[static_cast<std::size_t>(place)])
        if (const auto* send = std::get_if<MessageProgram::Send>(&action))
          sends.emplace_back(ordinal++, place, send);
    }
    std::ranges::sort(sends);
    for (const auto& [ordinal, place, send] : sends) {
      messages_[{place, send->peer, send->number}] = static_cast<int>(graph_.size());
      graph_.push_back({.from = host_of(schedule_, place),
                        .to = host_of(schedule_, send->peer),
                        .chunk_count = send->chunks.last - send->chunks.first});
    }
  }

  void add(int place, const MessageProgram::Send& send) {
    const int work = messages_.at({place, send.peer, send.number});
    for (std::size_t i = 0; i < send.cargo.size(); ++i)
      read(send.cargo[i].memory, send.chunks.first + static_cast<int>(i), work);
  }

  void add(int place, const MessageProgram::Receive& receive) {
    const int work = messages_.at({receive.peer, place, receive.number});
    for (std::size_t i = 0; i < receive.cargo.size(); ++i)
      writers_[{receive.cargo[i].memory, receive.chunks.first + static_cast<int>(i)}] = work;
  }

  void add(int place, const MessageProgram::Fold& fold) {
    const int work = static_cast<int>(graph_.size());
    const int host = host_of(schedule_, place);
    graph_.push_back({.from = host, .to = host});
    for (const Ref& source : fold.operation.sources) read(source, fold.chunk, work);
    for (const Ref& target : fold.operation.targets) writers_[{target, fold.chunk}] = work;
  }

  void read(const Ref& memory, int chunk, int reader) {
    const auto found = writers_.find({memory, chunk});
    if (found == writers_.end()) return;  // an input
    graph_[static_cast<std::size_t>(found->second)].next.push_back(reader);
    ++graph_[static_cast<std::size_t>(reader)].source_count;
  }

  const MessageProgram& program_;
  const Schedule& schedule_;
  std::vector<Work> graph_;
  std::map<std::tuple<int, int, int>, int> messages_;  // (from, to, number)
  std::map<std::pair<Ref, int>, int> writers_;         // (memory, chunk) of the place
};

}  // namespace

std::vector<Work> graph_of(const MessageProgram& program, const Schedule& schedule) {
  return GraphBuilder(program, schedule).build();
}

}  // namespace fanin
