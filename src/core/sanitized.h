#pragma once

namespace fanin {

/// For tests that a sanitizer makes many times slower: there they take fewer sizes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace fanin
