#include <fmt/core.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "run_tool.h"

namespace fanin {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class Conformance : public ToolTest {
 protected:
  ToolRun run_lines(const std::string& lines) const {
    write_text("cases.jsonl", lines);
    return run({"conformance", "cases.jsonl"});
  }
};

TEST_F(Conformance, HoldsForTheSystemsThatAreBuilt) {
  for (const char* system :
       {"add_n", "aggregate", "all_reduce_cross_device_ops", "device", "hierarchical_copy",
        "multi_worker_all_reduce", "options", "packing", "reduction_to_one_device", "spec"}) {
    const ToolRun result =
        run({"conformance", std::string(FANIN_VECTORS) + "/" + system + ".jsonl"});
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr(" passed, 0 failed, "));
  }
}

TEST_F(Conformance, CountsASystemThatIsNotBuiltAsFailed) {
  const ToolRun result =
      run_lines(R"({"id":"x/1","system":"x","op":"y","inputs":{},"expected":{}})"
                "\n"
                R"({"id":"device/1","system":"device","op":"y","inputs":{},"expected":{}})"
                "\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out,
            "x/1: expected {}, got system x is not built yet\n"
            "device/1: expected {}, got op y of system device is not built yet\n"
            "0 passed, 2 failed, 0 skipped\n");
}

/// A case of add_n over two scalars.
std::string add(const std::string& dtype, const std::string& a, const std::string& b,
                const std::string& outcome) {
  const auto scalar = [&](const std::string& value) {
    return R"({"dtype":")" + dtype + R"(","shape":[],"data":[)" + value + "]}";
  };
  return R"({"id":"add_n/1","system":"add_n","op":"add_n","inputs":{"terms":[)" + scalar(a) + "," +
         scalar(b) + "]}," + outcome + "}\n";
}

std::string value(const std::string& dtype, const std::string& element) {
  return R"("expected":{"value":{"dtype":")" + dtype + R"(","shape":[],"data":[)" + element + "]}}";
}

TEST_F(Conformance, ComparesBits) {
  const auto passes = [&](const std::string& line) { return run_lines(line).exit_code == 0; };
  EXPECT_TRUE(passes(add("float32", "1.0", "2.0", value("float32", "3.0"))));
  EXPECT_FALSE(passes(add("float32", "1.0", "2.0", value("float32", "4.0"))));
  EXPECT_FALSE(passes(add("float32", "1.0", "2.0", value("float64", "3.0"))));
  EXPECT_TRUE(passes(add("float32", "\"-0.0\"", "\"-0.0\"", value("float32", "\"-0.0\""))));
  EXPECT_FALSE(passes(add("float32", "\"-0.0\"", "\"-0.0\"", value("float32", "0.0"))));
  EXPECT_FALSE(passes(add("float32", "0.0", "0.0", value("float32", "\"-0.0\""))));
  EXPECT_TRUE(passes(add("float32", "\"inf\"", "\"-inf\"", value("float32", "\"nan\""))));
  EXPECT_FALSE(passes(add("float32", "\"inf\"", "\"inf\"", value("float32", "\"nan\""))));
  EXPECT_TRUE(
      passes(add("uint64", "18446744073709551614", "1", value("uint64", "18446744073709551615"))));
  EXPECT_FALSE(
      passes(add("uint64", "18446744073709551614", "1", value("uint64", "18446744073709551614"))));
  EXPECT_TRUE(passes(add("int64", "9007199254740992", "1", value("int64", "9007199254740993"))));
  EXPECT_FALSE(passes(add("int64", "9007199254740992", "1", value("int64", "9007199254740992"))));
}

TEST_F(Conformance, ComparesErrors) {
  const std::string start =
      R"({"id":"device/1","system":"device","op":"canonical","inputs":{"device":")";
  const auto out = [&](const std::string& device, const std::string& error) {
    return run_lines(start + device + "\"}," + error + "}\n").out;
  };
  const std::string bad = R"("error":{"code":"INVALID_ARGUMENT","kind":"BAD_DEVICE")";
  EXPECT_THAT(out("/foo", bad + R"(,"mentions":["/foo"]})"),
              EndsWith("1 passed, 0 failed, 0 skipped\n"));
  EXPECT_THAT(out("/foo", bad + R"(,"mentions":["/bar"]})"),
              HasSubstr("expected INVALID_ARGUMENT BAD_DEVICE with \"/bar\", got INVALID_ARGUMENT "
                        "BAD_DEVICE \"\"/foo\" is not a device"));
  EXPECT_THAT(out("/gpu:0", bad + "}"), HasSubstr("got {\"device\":\"/job:localhost"));
  EXPECT_THAT(out("/foo", R"("error":{"code":"INVALID_ARGUMENT","kind":"BAD_SPEC"})"),
              EndsWith("0 passed, 1 failed, 0 skipped\n"));
  EXPECT_THAT(out("/foo", R"("expected":{"device":"x"})"),
              HasSubstr("expected {\"device\":\"x\"}, got INVALID_ARGUMENT BAD_DEVICE"));
}

TEST_F(Conformance, SkipsWhatCppCannotState) {
  const ToolRun result = run_lines(
      R"({"id":"options/1","system":"options","op":"create","inputs":{"implementation":3},)"
      R"("error":{"code":"INVALID_ARGUMENT","kind":"BAD_OPTION"},"dynamic":true})");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "0 passed, 0 failed, 1 skipped\n");
}

TEST_F(Conformance, NamesFileAndLineOfWhatIsNoCase) {
  const std::string good = add("float32", "1.0", "2.0", value("float32", "3.0"));
  for (const std::string& bad :
       {std::string("{"), std::string("[]"), std::string("3"), std::string("{\"id\":\"x\"}"),
        add("float32", "1.0", "2.0", "\"source\":\"ruling\""),
        add("float32", "1.0", "2.0", value("float32", "3.0") + ",\"error\":{}"),
        add("float99", "1.0", "2.0", value("float32", "3.0")),
        add("float32", "1.0,2.0", "2.0", value("float32", "3.0")),
        add("float16", "2049.0", "2.0", value("float16", "3.0")),
        add("int8", "128", "2", value("int8", "3")), add("int8", "1.5", "2", value("int8", "3")),
        add("uint64", "18446744073709551616", "2", value("uint64", "3")),
        add("float32", "\"one\"", "2.0", value("float32", "3.0"))}) {
    const ToolRun result = run_lines(fmt::format("{}\n{}\n{}", good, bad, good));
    EXPECT_EQ(result.exit_code, 2) << bad;
    EXPECT_THAT(result.err, testing::StartsWith("fanin: cases.jsonl:3: not a case: ")) << bad;
    EXPECT_EQ(result.out, "");
  }
  EXPECT_EQ(run_lines("\n").err, "fanin: cases.jsonl holds no cases\n");
  expect_sentence({"conformance", "none.jsonl"}, 2,
                  "cannot read none.jsonl: there is no such file");
}

TEST_F(Conformance, PrintsJson) {
  write_text("cases.jsonl", add("float32", "1.0", "2.0", value("float32", "4.0")));
  const ToolRun result = run({"conformance", "cases.jsonl", "--json"});
  EXPECT_EQ(result.exit_code, 1);
  const auto answer = nlohmann::json::parse(result.out);
  EXPECT_EQ(answer.at("passed"), 0);
  EXPECT_EQ(answer.at("failed"), 1);
  EXPECT_EQ(answer.at("failures").at(0).at("id"), "add_n/1");
}

}  // namespace
}  // namespace fanin
