#include "estimator/image/testing/golden_lines.h"

#include <bit>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "estimator/base/file.h"
#include "glog/logging.h"

namespace estimator::image::testing {
namespace {

// Calls parse(word, &number) for each word.
template <typename T, typename Fn>
std::vector<T> ParseAll(absl::string_view text, Fn&& parse) {
  std::vector<T> numbers;
  if (text == "-") return numbers;
  for (const absl::string_view word : absl::StrSplit(text, ',')) {
    T number;
    CHECK(parse(word, &number)) << "not a number: " << word << " in " << text;
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::vector<GoldenLine> ReadGoldenLines(StringArg name) {
  const std::string path = absl::StrCat("testdata/images/", absl::string_view(name));
  const absl::StatusOr<std::string> text = ReadFile(path);
  CHECK(text.ok()) << text.status();
  std::vector<GoldenLine> lines;
  for (const absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    GoldenLine parsed;
    parsed.text = std::string(line);
    const std::vector<absl::string_view> error = absl::StrSplit(line, absl::MaxSplits(" ! ", 1));
    if (error.size() == 2) parsed.error = std::string(error[1]);
    const std::vector<absl::string_view> sides = absl::StrSplit(error[0], " = ");
    parsed.arguments = absl::StrSplit(sides[0], ' ');
    if (sides.size() == 2) parsed.results = absl::StrSplit(sides[1], ' ');
    lines.push_back(parsed);
  }
  CHECK(!lines.empty()) << path << " is empty";
  return lines;
}

std::vector<int64_t> ParseInts(StringArg text) {
  return ParseAll<int64_t>(
      text, [](absl::string_view word, int64_t* number) { return absl::SimpleAtoi(word, number); });
}

std::vector<double> ParseDoubles(StringArg text) {
  return ParseAll<double>(
      text, [](absl::string_view word, double* number) { return absl::SimpleAtod(word, number); });
}

std::vector<float> ParseFloatBits(StringArg text) {
  return ParseAll<float>(text, [](absl::string_view word, float* number) {
    uint32_t bits = 0;
    if (!absl::SimpleHexAtoi(word, &bits)) return false;
    *number = std::bit_cast<float>(bits);
    return true;
  });
}

std::array<int64_t, 2> ParseSeed(StringArg text) {
  const std::vector<int64_t> seed = ParseInts(text);
  CHECK_EQ(seed.size(), 2u) << absl::string_view(text);
  return {seed[0], seed[1]};
}

Array GoldenInput(DType dtype, const Shape& shape) {
  Array values(DType::kInt64, shape);
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    values.data<int64_t>()[i] = (i * 37 + 11) % 101;
    if (dtype == DType::kBool) values.data<int64_t>()[i] %= 2;
  }
  return values.Cast(dtype);
}

}  // namespace estimator::image::testing
