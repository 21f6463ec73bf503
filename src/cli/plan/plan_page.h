#pragma once

#include <string>

#include "fanin/reduction_plan.h"

namespace fanin::cli {

/// A plan as one self-contained page with pictures: the packs by size, and who takes how much.
std::string to_page(const ReductionPlan& plan, const std::string& gradients,
                    const std::string& spec);

}  // namespace fanin::cli
