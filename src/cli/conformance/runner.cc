#include "cli/conformance/runner.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/conformance/systems.h"
#include "core/require.h"
#include "files/file.h"

namespace fanin::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMostText = 400;

std::string shortened(std::string text) {
  if (text.size() <= kMostText) return text;
  return text.substr(0, kMostText) + "...";
}

/// What a case wants or what a call gave: an answer, or an error.
struct Outcome {
  std::optional<json> answer = std::nullopt;
  std::string code = {};
  std::string kind = {};
  std::string message = {};                // of the error that came
  std::vector<std::string> mentions = {};  // what the message must hold
};

std::string text_of(const Outcome& outcome) {
  if (outcome.answer) return shortened(outcome.answer->dump());
  std::string text = outcome.code + " " + outcome.kind;
  if (!outcome.message.empty()) text += " \"" + outcome.message + "\"";
  for (const std::string& mention : outcome.mentions) text += " with \"" + mention + "\"";
  return shortened(text);
}

/// {"at_most": n} is a bound; everything else is wanted as it stands.
bool is_answer(const json& wanted, const json& got) {
  if (wanted.contains("at_most") && got.contains("at_most"))
    return got["at_most"] <= wanted["at_most"];
  return wanted == got;
}

bool matches(const Outcome& expected, const Outcome& got) {
  if (expected.answer && got.answer) return is_answer(*expected.answer, *got.answer);
  if (expected.answer || got.answer) return false;
  return expected.code == got.code && expected.kind == got.kind &&
         std::ranges::all_of(expected.mentions, [&](const std::string& mention) {
           return got.message.find(mention) != std::string::npos;
         });
}

Outcome expected_outcome(const json& line) {
  require(line.contains("expected") != line.contains("error"), ErrorKind::kBadFile,
          "a case has either expected or error");
  if (line.contains("expected")) return {.answer = normalised(line.at("expected"))};
  const json& error = line.at("error");
  return {.code = error.at("code").get<std::string>(),
          .kind = error.at("kind").get<std::string>(),
          .mentions = error.value("mentions", std::vector<std::string>())};
}

/// Runs the case; nothing if its op is not built. What is wrong with the case itself is thrown.
std::optional<Outcome> run(const System& system, const json& line, Inputs& inputs) {
  try {
    auto answer = system.run(line.at("op").get<std::string>(), line.at("inputs"), inputs);
    if (!answer) return std::nullopt;
    return Outcome{.answer = normalised(*answer)};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kBadFile) throw;
    return Outcome{.code = std::string(name(error.code())),
                   .kind = std::string(name(error.kind())),
                   .message = error.what()};
  }
}

void run_case(const json& line, Report& report) {
  const auto id = line.at("id").get<std::string>();
  const auto system_name = line.at("system").get<std::string>();
  const Outcome expected = expected_outcome(line);
  const auto fail = [&](const std::string& got) {
    report.failures.push_back({id, text_of(expected), got});
  };

  const auto* system = std::ranges::find(kSystems, system_name, &System::name);
  if (system == std::end(kSystems)) return fail("system " + system_name + " is not built yet");
  if (line.value("dynamic", false)) {
    ++report.skipped;
    return;
  }
  Inputs inputs;
  const auto got = run(*system, line, inputs);
  if (!got)
    fail("op " + line.at("op").get<std::string>() + " of system " + system_name +
         " is not built yet");
  else if (!matches(expected, *got))
    fail(text_of(*got));
  else if (inputs.have_changed())
    fail("the right answer, but an input was changed");
  else
    ++report.passed;
}

std::string read_text(const std::filesystem::path& path) {
  const File file = File::open_to_read(path);
  std::string text(file.size(), '\0');
  text.resize(file.read(std::as_writable_bytes(std::span(text)), 0));
  return text;
}

}  // namespace

void run_cases(const std::filesystem::path& path, Report& report) {
  std::istringstream lines(read_text(path));
  std::string line;
  bool is_empty = true;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    is_empty = false;
    const auto throw_malformed = [&](const char* reason) {
      throw InvalidArgument(ErrorKind::kBadFile,
                            fmt::format("{}:{}: not a case: {}", path.string(), number, reason));
    };
    try {
      run_case(json::parse(line), report);
    } catch (const json::exception& error) {
      throw_malformed(error.what());
    } catch (const InvalidArgument& error) {
      throw_malformed(error.what());
    }
  }
  require(!is_empty, ErrorKind::kBadFile, "{} holds no cases", path.string());
}

}  // namespace fanin::cli
