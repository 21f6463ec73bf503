#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fanin {

/// A table: the first column is text, the others are numbers.
struct PageTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

/// One self-contained HTML page, made from top to bottom. It fetches nothing and runs no script.
class Page {
 public:
  explicit Page(std::string title) : title_(std::move(title)) {}

  void add_heading(std::string_view text);
  void add_paragraph(std::string_view text);
  /// What the reader should take away.
  void add_result(std::string_view text);
  void add_table(const PageTable& table);
  /// A picture with its heading. `svg` is markup.
  void add_figure(std::string_view heading, std::string_view svg);

  std::string html() const;

 private:
  std::string title_;
  std::string body_;
};

}  // namespace fanin
