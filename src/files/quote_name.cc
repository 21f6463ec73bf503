#include "files/quote_name.h"

#include <nlohmann/json.hpp>

namespace fanin {
namespace {

constexpr std::size_t kMostShown = 100;

}  // namespace

std::string quote_name(std::string_view name) {
  using nlohmann::json;
  std::string text =
      json(name.substr(0, kMostShown)).dump(-1, ' ', false, json::error_handler_t::replace);
  if (name.size() > kMostShown) text += "...";
  return text;
}

}  // namespace fanin
