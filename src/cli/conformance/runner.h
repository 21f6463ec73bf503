#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fanin::cli {

/// A case whose answer was another one. Long answers are cut.
struct Failure {
  std::string id;
  std::string expected;
  std::string got;
};

struct Report {
  int passed = 0;
  int skipped = 0;
  std::vector<Failure> failures;
};

/// Runs the cases of a file, one JSON object on each line, and adds to the report. Throws
/// InvalidArgument (kBadFile) with file and line if one is not a case.
void run_cases(const std::filesystem::path& path, Report& report);

}  // namespace fanin::cli
