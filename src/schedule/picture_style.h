#pragma once

#include <array>
#include <string_view>

namespace fanin {

/// They repeat; seven, so that ranges which begin at powers of two differ. White text can be read
/// on each, and each can be seen on white and on black.
inline constexpr std::array kChunkColours = {"#1f6fb2", "#c2571a", "#2b8a3e", "#a83279",
                                             "#6f52c4", "#0b7f86", "#8f6a00"};

/// All names begin with the picture's own class, so that a page that holds it keeps its own style.
/// No variables: not every viewer knows them.
inline constexpr std::string_view kPictureStyle = R"(<style>
.fanin-schedule { font-family: system-ui, "DejaVu Sans", sans-serif; }
.fanin-schedule .paper, .fanin-schedule .copy .box { fill: #fff; }
.fanin-schedule .band { fill: #f3f5f9; }
.fanin-schedule .place { stroke: #d5dae3; stroke-width: 1.5; }
.fanin-schedule .title { fill: #1c2330; font-size: 17px; font-weight: 600; }
.fanin-schedule .ink { fill: #1c2330; font-size: 13px; }
.fanin-schedule .soft { fill: #5b6575; font-size: 12px; }
.fanin-schedule .dot { fill: #5b6575; }
.fanin-schedule .way { fill: none; stroke-width: 1.6; }
.fanin-schedule .copy .way { stroke-dasharray: 5 3; }
.fanin-schedule .box { stroke-width: 1.6; }
.fanin-schedule .name { font-size: 11px; font-weight: 600; text-anchor: middle; }
.fanin-schedule .sum .name { fill: #fff; }
.fanin-schedule .copy .name { fill: #1c2330; }
@media (prefers-color-scheme: dark) {
.fanin-schedule .paper, .fanin-schedule .copy .box { fill: #161b22; }
.fanin-schedule .band { fill: #1d242e; }
.fanin-schedule .place { stroke: #3a4453; }
.fanin-schedule .title, .fanin-schedule .ink, .fanin-schedule .copy .name { fill: #e8ecf2; }
.fanin-schedule .soft, .fanin-schedule .dot { fill: #a5b0c0; }
}
</style>
)";

}  // namespace fanin
