// The header of a .npy file: magic bytes, a version, a length, and a Python dictionary such as
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }

#include "files/npy_header.h"

#include <fmt/ranges.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/require.h"

namespace fanin {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// Beyond this no array that we know needs a header; NumPy itself refuses 10000 by default.
constexpr std::size_t kMostHeaderBytes = std::size_t{1} << 20;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads the dictionary, strictly: the three keys, each once, in any order.
class DictionaryParser {
 public:
  explicit DictionaryParser(std::string_view text) : text_(text) {}

  NpyHeader parse() {
    expect('{');
    while (!take('}')) {
      parse_entry();
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    check(at_ == text_.size(), "nothing after the dictionary");
    check(descriptor_ && order_ && dims_, "the keys descr, fortran_order and shape");
    return {parse_npy_descriptor(*descriptor_), checked_shape(*dims_), *order_};
  }

 private:
  void parse_entry() {
    const std::string_view key = parse_string();
    expect(':');
    if (key == "descr" && !descriptor_)
      descriptor_ = parse_descriptor();
    else if (key == "fortran_order" && !order_)
      order_ = parse_bool();
    else if (key == "shape" && !dims_)
      dims_ = parse_dims();
    else
      check(false, "the keys descr, fortran_order and shape, each once");
  }

  /// A structured dtype is a list; it is quoted up to the end of its line, roughly.
  std::string_view parse_descriptor() {
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '[')
      throw InvalidArgument(ErrorKind::kBadFile,
                            "has a structured dtype, which cannot be summed; save each field on "
                            "its own");
    return parse_string();
  }

  std::string_view parse_string() {
    skip_spaces();
    check(at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"'), "a string");
    const char quote = text_[at_++];
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != quote) {
      // What needs an escape is no key and no dtype of ours.
      check(text_[at_] >= ' ' && text_[at_] <= '~' && text_[at_] != '\\', "a plain string");
      ++at_;
    }
    check(at_ < text_.size(), "the end of a string");
    return text_.substr(begin, at_++ - begin);
  }

  bool parse_bool() {
    skip_spaces();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    check(false, "True or False");
    return false;
  }

  std::vector<std::int64_t> parse_dims() {
    std::vector<std::int64_t> dims;
    expect('(');
    while (!take(')')) {
      dims.push_back(parse_number());
      if (take(',')) continue;
      check(dims.size() > 1, "a comma after the only extent");  // (3) is a number in Python
      expect(')');
      break;
    }
    return dims;
  }

  std::int64_t parse_number() {
    skip_spaces();
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    check(error == std::errc() && value >= 0 && *begin != '-', "an extent of 0 or more");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  static Shape checked_shape(const std::vector<std::int64_t>& dims) {
    try {
      return Shape(dims);
    } catch (const InvalidArgument&) {
      throw InvalidArgument(ErrorKind::kBadFile,
                            fmt::format("has shape [{}], with more elements than memory can hold",
                                        fmt::join(dims, ",")));
    }
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }

  bool take(char c) {
    skip_spaces();
    const bool found = at_ < text_.size() && text_[at_] == c;
    if (found) ++at_;
    return found;
  }

  void expect(char c) { check(take(c), std::string_view(&c, 1)); }

  void check(bool good, std::string_view expected) const {
    require(good, ErrorKind::kBadFile,
            "has a damaged header: expected {} at byte {} of its dictionary", expected, at_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::string_view> descriptor_;
  std::optional<bool> order_;
  std::optional<std::vector<std::int64_t>> dims_;
};

/// The bytes before the dictionary: magic, version and length.
std::size_t preamble_size(std::span<const std::byte> prefix) {
  const std::string_view text = as_text(prefix);
  require(!text.empty(), ErrorKind::kBadFile, "is empty, not a .npy file");
  require(kMagic.starts_with(text.substr(0, kMagic.size())), ErrorKind::kBadFile,
          "is not a .npy file: it does not begin as one");
  require(text.size() >= 8, ErrorKind::kBadFile, "is cut off within its header");
  const auto major = std::to_integer<unsigned>(prefix[6]);
  const auto minor = std::to_integer<unsigned>(prefix[7]);
  require(major >= 1 && major <= 3 && minor == 0, ErrorKind::kBadFile,
          "has .npy format {}.{}; formats 1.0, 2.0 and 3.0 are known", major, minor);
  return major == 1 ? 10 : 12;
}

}  // namespace

std::size_t npy_header_size(std::span<const std::byte> prefix) {
  const std::size_t preamble = preamble_size(prefix);
  require(prefix.size() >= preamble, ErrorKind::kBadFile, "is cut off within its header");
  std::size_t length = 0;  // little-endian
  for (std::size_t i = preamble; i-- > 8;)
    length = length << 8 | std::to_integer<std::size_t>(prefix[i]);
  require(length <= kMostHeaderBytes, ErrorKind::kBadFile,
          "has a header of {} bytes; at most {} make sense", length, kMostHeaderBytes);
  return preamble + length;
}

NpyHeader parse_npy_header(std::span<const std::byte> bytes) {
  const std::size_t size = npy_header_size(bytes);
  require(bytes.size() >= size, ErrorKind::kBadFile,
          "is cut off within its header: expected {} bytes, found {}", size, bytes.size());
  const std::size_t preamble = preamble_size(bytes);
  return DictionaryParser(as_text(bytes.subspan(preamble, size - preamble))).parse();
}

std::string make_npy_header(const NpyHeader& header) {
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}",
                  npy_descriptor(header.dtype), header.fortran_order ? "True" : "False",
                  fmt::join(header.shape.dims(), ", "), header.shape.rank() == 1 ? "," : "");
  const auto padded_size = [&](std::size_t preamble) {  // so that the data start at 64 bytes
    return (preamble + dictionary.size() + 1 + 63) / 64 * 64 - preamble;
  };
  const bool is_short = padded_size(10) <= std::numeric_limits<std::uint16_t>::max();
  const std::size_t length_bytes = is_short ? 2 : 4;
  const std::size_t length = padded_size(8 + length_bytes);
  dictionary.resize(length, ' ');
  dictionary.back() = '\n';

  std::string bytes(kMagic);
  bytes += is_short ? '\x01' : '\x02';
  bytes += '\0';
  for (std::size_t i = 0; i < length_bytes; ++i)
    bytes += static_cast<char>(length >> (8 * i) & 0xffU);
  return bytes + dictionary;
}

}  // namespace fanin
