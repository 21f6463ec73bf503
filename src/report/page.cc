#include "report/page.h"

#include <fmt/format.h>

#include "core/text.h"

namespace fanin {
namespace {

// Colours are named once, for light and dark screens.
constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5b6575; --line: #dfe3ea; --paper: #fff;
        --bar: #9db4d3; --best: #1f6fb2; --c0: #1f6fb2; --c1: #6ea8d8; --c2: #b9d2ea; --c3: #f0c987;
        --c4: #e08e45; --c5: #b5442e; --l0: #1f6fb2; --l1: #d9731a; --l2: #2a9d5c; --l3: #c23b4b;
        --l4: #7d5bb5; --l5: #86603f; --l6: #d45fa0; --l7: #6b7685; --l8: #a09a12; --l9: #14a3b8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ecf2; --soft: #9aa5b5; --line: #333c4a; --paper: #161b22; --bar: #4d6788;
          --l0: #5aa9e6; --l1: #f29a4a; --l2: #56c98a; --l3: #f0707f; --l4: #b194e8; --l5: #c69a74;
          --l6: #f08cc4; --l7: #a9b3c1; --l8: #d3cc4a; --l9: #4fd0e0; } }
body { font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; color: var(--ink);
       background: var(--paper); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { max-width: 48rem; } .result { border-left: 4px solid var(--best); padding: .5rem 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .8rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; } th { color: var(--soft); font-weight: 600; }
figure { margin: 0; } svg { width: 100%; height: auto; } svg text { fill: var(--ink);
  font: 13px system-ui, "DejaVu Sans", sans-serif; } svg .soft { fill: var(--soft); }
)";

}  // namespace

void Page::add_heading(std::string_view text) {
  body_ += fmt::format("<h2>{}</h2>\n", escape_html(text));
}

void Page::add_paragraph(std::string_view text) {
  body_ += fmt::format("<p>{}</p>\n", escape_html(text));
}

void Page::add_result(std::string_view text) {
  body_ += fmt::format("<p class=\"result\">{}</p>\n", escape_html(text));
}

void Page::add_table(const PageTable& table) {
  const auto add_row = [&](const std::vector<std::string>& cells, std::string_view tag) {
    body_ += "<tr>";
    for (const std::string& cell : cells)
      body_ += fmt::format("<{0}>{1}</{0}>", tag, escape_html(cell));
    body_ += "</tr>\n";
  };
  body_ += "<table>\n";
  add_row(table.header, "th");
  for (const auto& row : table.rows) add_row(row, "td");
  body_ += "</table>\n";
}

void Page::add_figure(std::string_view heading, std::string_view svg) {
  add_heading(heading);
  body_ += fmt::format("<figure>{}</figure>\n", svg);
}

std::string Page::html() const {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{2}</body>\n</html>\n",
      escape_html(title_), kStyle, body_);
}

}  // namespace fanin
