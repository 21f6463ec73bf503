#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "distribute/fetched_buffers.h"
#include "distribute/host_sums.h"
#include "distribute/lane.h"
#include "distribute/pads.h"
#include "distribute/request.h"
#include "distribute/schedule_book.h"
#include "distribute/unseen_habit.h"
#include "distribute/visible_buffers.h"
#include "executor/fetch_plan.h"
#include "executor/memory_plan.h"
#include "executor/message_plan.h"
#include "executor/slot_store.h"
#include "executor/visible_plan.h"
#include "executor/window_plan.h"
#include "fanin/context.h"

namespace fanin {

/// How data travels between so many ranks of one host, in a sentence for explain().
std::string describe_ways(int rank_count);

/// A request bound to one rank of one lane: what the next call like it replays. The way in which
/// the data goes depends on its size and on who can read it, never the bits.
class BoundCall {
 public:
  /// The request's arguments have been checked, and the extents of its parts are known. Throws
  /// InvalidArgument as build_schedule(), or (kBadSchedule) if the lane's window is too small for
  /// the algorithm.
  BoundCall(Request request, Lane& lane, ScheduleBook& book, Pad& pad, UnseenHabit& habit,
            Context& context);

  const Request& request() const { return request_; }
  std::uint64_t fingerprint() const { return fingerprint_; }
  const Arithmetic& arithmetic() const { return arithmetic_; }

  /// Data of this rank, an address for each tensor; what the rank does not hold or want is not
  /// looked at. Enters the operation and does it. Throws as Lane and Transport::wait() do.
  void run(Lane& lane, const Ticket& ticket, std::optional<std::int64_t> step,
           std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
           Call& call);

  /// To be called when run() has thrown and its epoch is over, with the same outputs.
  void give_up(Lane& lane, std::span<std::byte* const> outputs);

  /// Only what comes after entering: for requests that have been entered already.
  void run_entered(Lane& lane, std::span<const std::byte* const> inputs,
                   std::span<std::byte* const> outputs, Call& call);

 private:
  enum class Way : std::uint8_t {
    kAlone,    // one rank, this thread and its helpers
    kTiny,     // the data is in the first message
    kSmall,    // the data is in a slot before the first message: every rank sums all
    kSlot,     // directly where all ranks see the data, or as small, or by windows if they differ;
               // two ranks trade their slots after each call
    kLarge,    // directly where all ranks see the data, or else as UnseenWay says
    kWindow,   // by windows
    kMessage,  // by messages
  };
  /// Where ranks put their data for one operation, each into its own; operations take turns.
  struct Slots {
    enum class Place : std::uint8_t { kWindow, kShelf, kShelfOfOther };  // shelves: of two ranks
    static constexpr std::size_t kTurns = 2;
    static constexpr std::size_t kCount = 3 * kTurns;

    Place place = Place::kWindow;
    std::size_t turn = 0;

    std::size_t index() const { return kTurns * static_cast<std::size_t>(place) + turn; }
  };
  /// What ranks say in the first message of kSlot and kLarge: bits of its first word.
  static constexpr std::uint64_t kToldPlaces = 1;     // where their data is
  static constexpr std::uint64_t kToldAlone = 2;      // that nothing else of theirs is under way
  static constexpr std::uint64_t kToldAddresses = 4;  // where it is for those who fetch it
  static constexpr std::uint64_t kToldPad = 8;        // where their pads are
  // Of the first rank, which decides; neither: windows.
  static constexpr std::uint64_t kWantsToFetch = 16;
  static constexpr std::uint64_t kWantsPads = 32;
  // The words after it of which they tell the rest.
  static constexpr std::size_t kAddressWords = 1;
  static constexpr std::size_t kPadWords = 3;

  Way choose(Transport& transport) const;
  void move(Lane& lane, std::span<const std::byte* const> inputs,
            std::span<std::byte* const> outputs, Call& call);
  Slots slots_of(Lane& lane, const Ticket& ticket) const;
  std::byte* slot(Lane& lane, int rank, Slots slots) const;
  void bind_seen(Lane& lane);
  void bind_pads(Lane& lane, Pad& pad);
  void gather(std::span<const std::byte* const> inputs, std::byte* to);
  std::span<std::byte> note_of_places(Lane& lane, int rank, const Ticket& ticket) const;
  Lane::Entry first_message(Lane& lane, const Ticket& ticket,
                            std::span<const std::byte* const> inputs,
                            std::span<std::byte* const> outputs, const Call& call);
  void tell_unseen(Lane& lane, const Ticket& ticket, std::span<const std::byte* const> inputs,
                   std::span<std::byte* const> outputs, Lane::Entry& entry);
  bool have_all_told(std::uint64_t what, const Lane& lane, const Ticket& ticket) const;
  bool has_anyone_told(std::uint64_t what, const Lane& lane, const Ticket& ticket) const;
  UnseenWay unseen_way(const Lane& lane, const Ticket& ticket) const;
  void run_small(Lane& lane, const Ticket& ticket, std::span<const std::byte* const> inputs,
                 std::span<std::byte* const> outputs);
  void run_seen(Lane& lane, const Ticket& ticket, std::span<const std::byte* const> inputs,
                std::span<std::byte* const> outputs, Call& call);
  void run_unseen(Lane& lane, const Ticket& ticket, std::span<const std::byte* const> inputs,
                  std::span<std::byte* const> outputs, Call& call);
  void run_fetching(Lane& lane, const Ticket& ticket, std::span<const std::byte* const> inputs,
                    std::span<std::byte* const> outputs, Call& call);
  void run_on_pads(Lane& lane, const Ticket& ticket, std::span<const std::byte* const> inputs,
                   std::span<std::byte* const> outputs, Call& call, bool are_alone);
  void run_windows(Lane& lane, std::span<const std::byte* const> inputs,
                   std::span<std::byte* const> outputs, Call& call, bool are_alone);

  Request request_;
  std::uint64_t fingerprint_;
  Arithmetic arithmetic_;
  std::shared_ptr<const ProvedSchedule> schedule_;
  Context& context_;
  std::vector<std::size_t> counts_;  // elements of each tensor, or of each part of the only one
  Layout layout_;
  std::size_t input_bytes_;
  std::size_t slot_bytes_;  // at the start of each window: two slots that take turns
  WindowPlan::Room room_;   // the rest of a window
  bool sums_hosts_;         // could, if it is small
  Way way_;
  std::unique_ptr<MemoryPlan> memory_;     // for kAlone, kTiny, kSmall, kSlot
  std::unique_ptr<WindowPlan> window_;     // for kSlot, kLarge, kWindow
  std::vector<std::byte*> rooms_;          // likewise: in the windows of the lane, by rank
  std::vector<std::byte*> common_rooms_;   // and in those that all lanes may use
  std::unique_ptr<MessagePlan> messages_;  // for kMessage
  std::optional<VisibleBuffers> buffers_;  // for kSlot, kLarge
  std::unique_ptr<VisiblePlan> visible_;   // likewise, when first needed
  bool has_told_ = false;                  // where its data is, in the run that is under way
  bool trades_;  // its slot: each rank puts its data where it has just read that of the other
  // Of kTiny, kSmall and kSlot, by Slots::index(): where the data of all ranks is,
  // [rank * tensors + tensor]. That of this rank is filled in by each run.
  std::array<std::vector<const std::byte*>, Slots::kCount> seen_;
  std::optional<HostSums> host_sums_;      // for kSmall
  Slots slots_;                            // of the run that is under way
  SlotStore slot_store_;                   // of kSlot
  std::optional<FetchedBuffers> fetched_;  // for kLarge, if it may be worth while
  std::unique_ptr<FetchPlan> fetch_;       // likewise, when first needed
  std::optional<Pads> pads_;               // likewise
  std::unique_ptr<WindowPlan> pad_plan_;   // likewise
  bool has_told_pad_ = false;              // in the run that is under way
  bool is_alone_ = false;                  // likewise
  UnseenHabit& habit_;
  UnseenHabit::Choice choice_ = {};  // of the run that is under way
};

}  // namespace fanin
