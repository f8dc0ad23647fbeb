#include "estimator/base/string_arg.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace estimator {
namespace {

std::string Name(StringArg name = "default") { return absl::StrCat("[", name, "]"); }

TEST(StringArg, TakesEveryKindOfString) {
  const std::string text = "dense";
  EXPECT_EQ(Name(), "[default]");
  EXPECT_EQ(Name("dense"), "[dense]");
  EXPECT_EQ(Name(text), "[dense]");
  EXPECT_EQ(Name(std::string("dense")), "[dense]");
  EXPECT_EQ(Name(absl::string_view(text).substr(1)), "[ense]");
  EXPECT_EQ(Name(std::string_view(text).substr(1)), "[ense]");
  EXPECT_EQ(Name({}), "[]");
}

TEST(StringArg, KeepsZeroBytesAndTheLengthOfAView) {
  const std::string_view text("a\0b", 3);
  EXPECT_EQ(StringArg(text).size(), 3u);
  EXPECT_EQ(std::string(StringArg(text)), std::string(text));
}

TEST(StringArg, IsUsedAsAView) {
  const StringArg name = "dense/kernel";
  EXPECT_TRUE(name == "dense/kernel" && std::string("dense/kernel") == name);
  const absl::string_view part = name.empty() ? "none" : name;
  EXPECT_EQ(part.substr(6), "kernel");
}

}  // namespace
}  // namespace estimator
