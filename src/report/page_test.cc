#include "report/page.h"

#include <gmock/gmock.h>

#include "core/text.h"

namespace fanin {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Page, EscapesWhatItIsGiven) {
  EXPECT_EQ(escape_html("a < b && \"c\" > d"), "a &lt; b &amp;&amp; &quot;c&quot; &gt; d");
  Page page("<title>");
  page.add_heading("<h>");
  page.add_paragraph("<p>");
  page.add_result("<r>");
  page.add_table({.header = {"<a>"}, .rows = {{"<b>"}}});
  page.add_figure("<f>", "<svg></svg>");
  const std::string html = page.html();
  for (const char* raw : {"<title></", "<h>", "<r>", "<a>", "<b>", "<f>"})
    EXPECT_THAT(html, Not(HasSubstr(raw)));
  EXPECT_THAT(html, HasSubstr("<figure><svg></svg></figure>"));
}

TEST(Page, StandsAlone) {
  Page page("Title");
  page.add_table({.header = {"a", "b"}, .rows = {{"x", "1"}, {"y", "2"}}});
  const std::string html = page.html();
  EXPECT_TRUE(html.starts_with("<!doctype html>"));
  EXPECT_THAT(html, HasSubstr("<tr><td>y</td><td>2</td></tr>"));
  for (const char* outside : {"http:", "https:", "<script", "src=", "url("})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
}

}  // namespace
}  // namespace fanin
