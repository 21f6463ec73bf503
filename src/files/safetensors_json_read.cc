// The JSON of a .safetensors header, in one pass and strictly: an object of tensors such as
// {"name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}} and, as one more, the metadata.
// Other keys are refused, because what a later format means by them would change the data.

#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "core/require.h"
#include "files/damaged_header.h"
#include "files/quote_name.h"
#include "files/safetensors_json.h"

namespace fanin {
namespace {

/// Is told of each piece of the text in turn. Every function returns true: go on.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  SafetensorsJson take() { return std::move(result_); }

  bool key(std::string& key) override {
    if (place_ == Place::kTensor) {
      check_field(key);
    } else if (place_ == Place::kMetadata) {
      if (result_.metadata.contains(key))
        refuse_header("__metadata__ holds {} twice", quote_name(key));
    } else if (!names_.insert(key).second) {
      refuse_header("it names {} twice", quote_name(key));
    }
    (place_ == Place::kTensors ? name_ : key_) = std::move(key);
    return true;
  }

  bool start_object(std::size_t /*size*/) override {
    if (place_ == Place::kStart) {
      place_ = Place::kTensors;
    } else if (place_ != Place::kTensors) {
      refuse_value();
    } else if (name_ == kSafetensorsMetadataKey) {
      place_ = Place::kMetadata;
    } else {
      place_ = Place::kTensor;
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::kTensor) finish_tensor();
    place_ = Place::kTensors;  // of the whole text too: nothing follows
    return true;
  }

  bool start_array(std::size_t /*size*/) override {
    if (place_ != Place::kTensor || key_ == "dtype") refuse_value();
    numbers_ = &(key_ == "shape" ? shape_ : data_offsets_).emplace();
    place_ = Place::kNumbers;
    return true;
  }

  bool end_array() override {
    place_ = Place::kTensor;
    return true;
  }

  bool string(std::string& text) override {
    if (place_ == Place::kMetadata)
      result_.metadata[key_] = std::move(text);
    else if (place_ == Place::kTensor && key_ == "dtype")
      dtype_ = std::move(text);
    else
      refuse_value();
    return true;
  }

  bool number_unsigned(std::uint64_t number) override {
    if (place_ != Place::kNumbers) refuse_value();
    numbers_->push_back(number);
    return true;
  }

  bool null() override { refuse_value(); }
  bool boolean(bool /*value*/) override { refuse_value(); }
  bool number_integer(std::int64_t /*negative*/) override { refuse_value(); }
  bool number_float(double /*number*/, const std::string& /*text*/) override { refuse_value(); }
  bool binary(nlohmann::json::binary_t& /*bytes*/) override { refuse_value(); }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) override {
    refuse_header("it is not valid JSON in UTF-8 near its byte {}", position);
  }

 private:
  enum class Place { kStart, kTensors, kTensor, kNumbers, kMetadata };

  void check_field(const std::string& key) const {
    const bool is_new = (key == "dtype" && !dtype_) || (key == "shape" && !shape_) ||
                        (key == "data_offsets" && !data_offsets_);
    if (!is_new)
      refuse_header("tensor {} has the key {}; it needs dtype, shape and data_offsets, each once",
                    quote_name(name_), quote_name(key));
  }

  void finish_tensor() {
    if (!dtype_ || !shape_ || !data_offsets_)
      refuse_header("tensor {} has no {}; it needs dtype, shape and data_offsets, each once",
                    quote_name(name_),
                    !dtype_   ? "dtype"
                    : !shape_ ? "shape"
                              : "data_offsets");
    result_.tensors.push_back(
        {std::move(name_), *std::move(dtype_), *std::move(shape_), *std::move(data_offsets_)});
    dtype_.reset();
    shape_.reset();
    data_offsets_.reset();
  }

  [[noreturn]] void refuse_value() const {
    if (place_ == Place::kMetadata)
      refuse_header("__metadata__ has no text for {}; it holds texts only", quote_name(key_));
    if (place_ == Place::kTensors && name_ == kSafetensorsMetadataKey)
      refuse_header("__metadata__ is not an object");
    if (place_ == Place::kTensors)
      refuse_header("tensor {} is not an object with dtype, shape and data_offsets",
                    quote_name(name_));
    refuse_header("the {} of tensor {} is not a {}", key_, quote_name(name_),
                  key_ == "dtype" ? "text" : "list of whole numbers of 0 or more");
  }

  SafetensorsJson result_;
  std::unordered_set<std::string> names_;
  Place place_ = Place::kStart;

  // The tensor, or the value of the metadata, that is being read.
  std::string name_;
  std::string key_;
  std::optional<std::string> dtype_;
  std::optional<std::vector<std::uint64_t>> shape_;
  std::optional<std::vector<std::uint64_t>> data_offsets_;
  std::vector<std::uint64_t>* numbers_ = nullptr;
};

}  // namespace

SafetensorsJson parse_safetensors_json(std::string_view text) {
  // The parser would skip a byte order mark or spaces before the text, and take NUL for its end.
  require(text.starts_with('{'), ErrorKind::kBadFile,
          "is not a .safetensors file: its header does not begin with {{");
  if (const std::size_t nul = text.find('\0'); nul != text.npos)
    refuse_header("it is not valid JSON in UTF-8 near its byte {}", nul + 1);
  HeaderReader reader;
  nlohmann::json::sax_parse(text, &reader);
  return reader.take();
}

}  // namespace fanin
