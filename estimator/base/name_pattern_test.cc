#include "estimator/base/name_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

NamePattern Compiled(const std::string& pattern) {
  return NamePattern::Compile("option", pattern).value();
}

bool Finds(const std::string& pattern, const std::string& name) {
  return Compiled(pattern).FoundIn(name).value();
}

std::string ErrorOf(const std::string& pattern) {
  const absl::Status status = NamePattern::Compile("--include", pattern).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << pattern.substr(0, 100);
  return std::string(status.message());
}

TEST(NamePatternTest, FindsMatchesTheStartAndMatchesAllAsPythonsThreeDo) {
  const NamePattern dense = Compiled("dense");
  EXPECT_TRUE(*dense.FoundIn("my/dense/kernel"));
  EXPECT_FALSE(*dense.FoundIn("conv2d/kernel"));
  EXPECT_TRUE(*dense.MatchesStartOf("dense_1/kernel"));
  EXPECT_FALSE(*dense.MatchesStartOf("my/dense/kernel"));
  EXPECT_FALSE(*dense.MatchesAllOf("dense/kernel"));
  EXPECT_TRUE(*Compiled("dense/.*").MatchesAllOf("dense/kernel"));
  EXPECT_TRUE(*Compiled("dense|dense/kernel").MatchesAllOf("dense/kernel"));
  EXPECT_TRUE(*Compiled("").FoundIn(""));
}

TEST(NamePatternTest, LooksAheadAndBehind) {
  EXPECT_TRUE(Finds("^(?!global_step)", "dense/kernel"));
  EXPECT_FALSE(Finds("^(?!global_step)", "global_step"));
  EXPECT_TRUE(*Compiled("bert/(?!pooler).*").MatchesAllOf("bert/encoder/kernel"));
  EXPECT_FALSE(*Compiled("bert/(?!pooler).*").MatchesAllOf("bert/pooler/kernel"));
  EXPECT_TRUE(Finds("dense(?=/kernel)", "dense/kernel"));
  EXPECT_TRUE(Finds("(?<=encoder/)kernel", "encoder/kernel"));
  EXPECT_FALSE(Finds("(?<!encoder/)kernel", "encoder/kernel"));
}

TEST(NamePatternTest, KnowsWhatElsePythonsExpressionsHave) {
  EXPECT_TRUE(Finds("(?P<layer>layer_\\d+)/(?P=layer)$", "layer_12/layer_12"));
  EXPECT_FALSE(Finds("(?P<layer>layer_\\d+)/(?P=layer)$", "layer_12/layer_1"));
  EXPECT_TRUE(Finds("(layer_\\d)/\\1", "layer_3/layer_3/kernel"));
  EXPECT_FALSE(Finds("(layer_\\d)/\\1", "layer_3/layer_4/kernel"));
  EXPECT_TRUE(Finds("(?i)BIAS", "dense/bias"));
  EXPECT_TRUE(Finds("^\\w+?/\\S{2,3}(?:a|b)\\b", "dense/xya"));
  EXPECT_TRUE(Finds("^caf.$", "caf\xc3\xa9")) << "a character, not a byte";
  EXPECT_TRUE(Finds("^\\w+$", "caf\xc3\xa9"));
  EXPECT_TRUE(Finds("kernel$", "caf\xe9/kernel")) << "a name that is not UTF-8";
}

TEST(NamePatternTest, AnErrorNamesTheOptionTheExpressionThePositionAndWhatIsWrong) {
  EXPECT_EQ(ErrorOf("dense/(kernel"),
            "--include: 'dense/(kernel' is not a regular expression: at position 13: missing "
            "closing parenthesis");
  EXPECT_THAT(ErrorOf("a**"), HasSubstr("at position 2: quantifier does not follow a repeatable"));
  EXPECT_THAT(ErrorOf("(?<=a+)b"), HasSubstr("lookbehind assertion"));
  EXPECT_THAT(ErrorOf("(?<=a{1,3})b"), HasSubstr("lookbehind assertion"));
}

// To PCRE2 it is text, to Python a repeat.
TEST(NamePatternTest, ARepeatWithoutItsLeastNumberIsAnError) {
  EXPECT_THAT(ErrorOf("layer_\\d{,2}"), HasSubstr("at position 8: write the repeat as {0,n}"));
  EXPECT_TRUE(Finds("^a\\{,2}$", "a{,2}"));
  EXPECT_TRUE(Finds("^a{0,2}$", "aa"));
}

TEST(NamePatternTest, AllBrokenExpressionsAreNamedTogether) {
  const absl::Status status =
      CompileNamePatterns("exclude_from_weight_decay", {"bias", "(", "[z-a]"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("exclude_from_weight_decay: '('"),
                    HasSubstr("exclude_from_weight_decay: '[z-a]'"), Not(HasSubstr("'bias'"))));
}

TEST(NamePatternTest, AnyOfSeveralIsEnough) {
  EXPECT_TRUE(*AnyFoundIn("o", "bert/encoder/LayerNorm/gamma", {"LayerNorm", "bias"}));
  EXPECT_TRUE(*AnyFoundIn("o", "dense/bias", {"LayerNorm", "bias$"}));
  EXPECT_FALSE(*AnyFoundIn("o", "dense/kernel", {"LayerNorm", "bias"}));
  EXPECT_FALSE(*AnyFoundIn("o", "dense/kernel", {}));
  EXPECT_EQ(AnyFoundIn("o", "(", {"("}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(NamePatternTest, AnExpressionThatWouldTakeExponentialTimeIsAnErrorWithACure) {
  const std::string name(100, 'a');
  for (const std::string pattern : {"(a+)+$", "(a|aa)+$", "(a*)*[bc]", "(.(?R)?)*[01]"}) {
    const absl::Status status = Compiled(pattern).FoundIn(name + "!").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << pattern;
    EXPECT_THAT(
        std::string(status.message()),
        AllOf(HasSubstr("option: '" + pattern + "' cannot be matched with the name '" + name),
              HasSubstr("limit exceeded; "), HasSubstr("write a+, or (?>a+)+")));
  }
  EXPECT_FALSE(*Compiled("(?>a+)+$").FoundIn(name + "!"));
}

TEST(NamePatternTest, AnExpressionThatCallsItselfWithoutEndIsAnError) {
  const absl::Status status = Compiled("(?R)|b").FoundIn("a").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("nested recursion"));
}

TEST(NamePatternTest, AnExpressionThatIsTooLongTooDeepOrRepeatsTooMuchIsAnErrorAndNoCrash) {
  const std::string message = ErrorOf(std::string(1 << 20, 'a'));
  EXPECT_THAT(message, HasSubstr("regular expression is too large"));
  EXPECT_LT(message.size(), 400u);
  const std::string deep = std::string(5000, '(') + "a" + std::string(5000, ')');
  EXPECT_THAT(ErrorOf(deep), HasSubstr("parentheses are too deeply nested"));
  EXPECT_THAT(ErrorOf("((a{1000}){1000}){1000}"), HasSubstr("regular expression is too large"));
  std::string names = "a";
  while (names.size() < 9000) names += "|dense_" + std::to_string(names.size());
  EXPECT_TRUE(*Compiled(names).MatchesAllOf("dense_1"));
}

// PCRE2 keeps its place on the heap: a thread's stack is not in danger.
TEST(NamePatternTest, ALongNameOverflowsNoStack) {
  const std::string name(1 << 20, 'a');
  EXPECT_TRUE(*Compiled("^[a-z]+$").FoundIn(name));
  EXPECT_FALSE(Compiled("^(a(?R)?b|a)*$").FoundIn(name).ok());
}

// PCRE2 anchors to each valid part of a name that is not UTF-8.
TEST(NamePatternTest, TheWholeNameCountsWhereItIsNotUtf8) {
  EXPECT_FALSE(*Compiled("a").MatchesAllOf("a\xff"));
  EXPECT_FALSE(
      *Compiled("a").MatchesAllOf("\xff"
                                  "a"));
  EXPECT_FALSE(
      *Compiled("a").MatchesStartOf("\xff"
                                    "a"));
  EXPECT_TRUE(*Compiled("a").MatchesStartOf("a\xff"));
  EXPECT_TRUE(
      *Compiled("a").FoundIn("\xff"
                             "a"));
}

TEST(NamePatternTest, ARepeatWithoutItsLeastNumberIsTextInAClassAndInAQuote) {
  EXPECT_TRUE(*Compiled("[{,3}]").FoundIn("a,b"));
  EXPECT_TRUE(*Compiled("[]{,3}]").FoundIn("]"));
  EXPECT_TRUE(*Compiled("\\Qx{,3}\\E").FoundIn("x{,3}"));
  EXPECT_THAT(ErrorOf("[a]{,3}"), HasSubstr("at position 3: write the repeat as {0,n}"));
}

TEST(NamePatternTest, AnEmptyViewIsTheEmptyExpression) {
  EXPECT_TRUE(*NamePattern::Compile("option", absl::string_view())->MatchesAllOf(""));
}

}  // namespace
}  // namespace estimator
