#include "cli/text_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace fanin::cli {

std::string text_table(const PageTable& table) {
  std::vector<std::size_t> widths(table.header.size());
  const auto widen = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  };
  widen(table.header);
  for (const auto& row : table.rows) widen(row);
  std::string text;
  const auto add = [&](const std::vector<std::string>& row) {
    std::string line = fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i)
      line += i + 1 < row.size() ? fmt::format("  {:>{}}", row[i], widths[i]) : "  " + row[i];
    text += line + "\n";
  };
  add(table.header);
  for (const auto& row : table.rows) add(row);
  return text;
}

}  // namespace fanin::cli
