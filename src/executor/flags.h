#pragma once

namespace fanin {

// Which flag of a transport says what.
inline constexpr int kCallFlag = 0;        // operations entered: the call line has been written
inline constexpr int kDoneFlag = 1;        // waves after which this rank reads no slot any more
inline constexpr int kFirstLevelFlag = 2;  // waves of level 0, and so on upwards

}  // namespace fanin
