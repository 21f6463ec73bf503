#include "fanin/all_reduce_spec.h"

#include <gmock/gmock.h>

#include "core/expect_error.h"

namespace fanin {
namespace {

using Element = AllReduceSpec::Element;
using testing::ElementsAre;

void expect_refused(const auto& spec, const std::string& message) {
  expect_error(ErrorKind::kBadSpec, message, [&] { AllReduceSpec{spec}; });
}

TEST(AllReduceSpec, ReadsEveryForm) {
  EXPECT_THAT(AllReduceSpec("xring").elements(), ElementsAre(Element{"xring", 1, -1}));
  EXPECT_THAT(AllReduceSpec("psgpu#3:100:nccl/rechd:1g:pscpu/pscpu#2").elements(),
              ElementsAre(Element{"psgpu", 3, 100}, Element{"nccl/rechd", 1, 1 << 30},
                          Element{"pscpu/pscpu", 2, -1}));
  EXPECT_EQ(AllReduceSpec(Element{"xring", 2}), AllReduceSpec("xring#2"));
  EXPECT_EQ(AllReduceSpec({{"pscpu", 2, 32768}, {"xring"}}), AllReduceSpec("pscpu#2:32K:xring"));
}

TEST(AllReduceSpec, PrintsWhatItReads) {
  for (const std::string text :
       {"xring", "pscpu#2:32K:xring", "nccl:1000:xring#2:1M:rechd", "psgpu#4:3G:nccl#2",
        "pscpu:0:nccl", "psgpu/xring#7:4K:rechd/rechd#2"})
    EXPECT_EQ(to_string(AllReduceSpec(text)), text);
  EXPECT_EQ(to_string(AllReduceSpec("xring#1")), "xring");
  EXPECT_EQ(to_list_string(AllReduceSpec("pscpu#2:32K:xring")),
            "[(\"pscpu\", 2, 32768), (\"xring\", 1, -1)]");
}

TEST(AllReduceSpec, ChoosesBySizeInclusively) {
  const AllReduceSpec spec("pscpu:0:nccl:1K:xring");
  EXPECT_EQ(spec.select(0), 0U);
  EXPECT_EQ(spec.select(1), 1U);
  EXPECT_EQ(spec.select(1024), 1U);
  EXPECT_EQ(spec.select(1025), 2U);
}

TEST(AllReduceSpec, RefusesTextThatIsNoSpec) {
  expect_refused("ring",
                 "there is no algorithm \"ring\" for element 0 of a spec; use one of nccl, xring, "
                 "rechd, pscpu, psgpu, or two as nccl/xring");
  for (const char* text :
       {"", "nccl/", "/nccl", "nccl/xring/rechd", "xring/foo", "XRING", " xring"})
    EXPECT_THROW(AllReduceSpec{text}, InvalidArgument) << text;
  for (const char* text :
       {"xring#", "xring#0", "xring#two", "xring#-1", "xring#2#3", "xring#99999999999"})
    EXPECT_THROW(AllReduceSpec{text}, InvalidArgument) << text;
  expect_refused("xring#two",
                 "\"xring#two\" in the spec \"xring#two\" does not say a number of shards; after # "
                 "comes 1 or more");
  expect_refused("pscpu:lots:xring",
                 "\"lots\" in the spec \"pscpu:lots:xring\" is not a limit; use bytes from 0 up, "
                 "with K, M or G if you like, such as 32K");
  for (const char* text :
       {"pscpu::xring", "pscpu:-1:xring", "pscpu:-3:xring", "pscpu:K:xring", "pscpu:1KK:xring",
        "pscpu:9223372036854775807K:xring", ":xring", "pscpu:1.5K:xring"})
    EXPECT_THROW(AllReduceSpec{text}, InvalidArgument) << text;
  expect_refused("pscpu:32K",
                 "nothing follows the limit \"32K\" in the spec \"pscpu:32K\"; name the algorithm "
                 "for what is larger, such as pscpu:32K:xring");
}

TEST(AllReduceSpec, RefusesElementsThatDoNotFitTogether) {
  expect_refused(std::vector<Element>{},
                 "a spec without an element says nothing; name an algorithm, such as xring");
  expect_refused(Element{"xring", 0},
                 "element 0 of the spec, (\"xring\", 0, -1), has 0 shards; use 1 or more");
  expect_refused(Element{"nccl", 2, 1024},
                 "the last element of the spec, (\"nccl\", 2, 1024), has the limit 1024; it must "
                 "take every size, with -1");
  expect_refused(std::vector<Element>{{"xring"}, {"nccl"}},
                 "element 0 of the spec, (\"xring\", 1, -1), takes every size, but another "
                 "follows; only the last limit is -1");
  expect_refused(std::vector<Element>{{"xring", 1, -2}, {"nccl"}},
                 "element 0 of the spec, (\"xring\", 1, -2), has a negative limit; use bytes from "
                 "0 up, and -1 for the last");
  expect_refused("pscpu:1K:xring:1024:nccl",
                 "element 1 of the spec, (\"xring\", 1, 1024), takes no size that the one before "
                 "leaves (up to 1024); limits must rise");
}

}  // namespace
}  // namespace fanin
