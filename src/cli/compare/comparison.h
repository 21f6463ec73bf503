#pragma once

#include <string>
#include <vector>

#include "cli/compare/measure.h"
#include "cli/compare/recommend.h"

namespace fanin::cli {

/// What was compared, and what came out: everything that is shown.
struct Comparison {
  std::string what;  ///< "161 gradients of resnet50"
  std::size_t gradient_count = 0;
  std::size_t term_count = 0;
  std::size_t element_count = 0;  ///< of one term of all gradients
  DType dtype = DType::kFloat32;
  int rounds = 0;
  std::vector<Measurement> measurements;
  Recommendation recommendation;
};

/// As a table, for people.
std::string to_text(const Comparison& comparison);
std::string to_json(const Comparison& comparison);
/// As one self-contained page with pictures.
std::string to_page(const Comparison& comparison);

}  // namespace fanin::cli
