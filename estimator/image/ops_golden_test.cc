// Compares the functions of sizes and colors with TensorFlow's results in testdata/images.
//
// ops.npy has the bytes of all arrays. A line of ops.txt is one of
//   array NAME DTYPE:SHAPE:OFFSET
//   case FUNCTION in=NAME,... out=DTYPE:SHAPE:OFFSET KEY=VALUE ...
// where OFFSET is in bytes and a number that is left out is 0. tolerance=0 wants the same bits. Any
// other is relative to the largest value; for integers it is the number of steps.
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "estimator/array/array.h"
#include "estimator/array/compare.h"
#include "estimator/array/npy.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/image/testing/op_functions.h"
#include "glog/logging.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::image {
namespace {

constexpr char kFolder[] = "testdata/images/";

// The array of DTYPE:SHAPE:OFFSET.
Array StoredArray(const Array& bytes, const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  CHECK_EQ(parts.size(), 3u) << text;
  Shape shape;
  for (const absl::string_view size : absl::StrSplit(parts[1], ',')) {
    int64_t number = 0;
    CHECK(absl::SimpleAtoi(size, &number)) << text;
    shape.push_back(number);
  }
  int64_t offset = 0;
  CHECK(absl::SimpleAtoi(parts[2], &offset)) << text;
  Array array(*DTypeFromName(parts[0]), shape);
  CHECK_LE(offset + static_cast<int64_t>(array.num_bytes()), bytes.num_elements()) << text;
  std::memcpy(array.raw(), bytes.data<uint8_t>() + offset, array.num_bytes());
  return array;
}

double LargestMagnitude(const Array& array) {
  double largest = 0;
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    largest = std::max(largest, std::abs(array.AsDouble(i)));
  }
  return largest;
}

TEST(OpsGolden, ResultsAreThoseOfTensorFlow) {
  const auto bytes = LoadNpy(std::string(kFolder) + "ops.npy");
  EST_ASSERT_OK(bytes);
  std::ifstream file(std::string(kFolder) + "ops.txt");
  std::map<std::string, Array> arrays;
  std::map<std::string, int> num_cases;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words[0] == "array") {
      arrays[words[1]] = StoredArray(*bytes, words[2]);
      continue;
    }
    SCOPED_TRACE(line);
    testing::OpArguments args;
    for (size_t i = 2; i < words.size(); ++i) {
      args.insert(absl::StrSplit(words[i], absl::MaxSplits('=', 1)));
    }
    const auto take = [&args](const std::string& key) {
      const auto node = args.extract(key);
      return node.empty() ? std::string("0") : node.mapped();
    };
    std::vector<Array> in;
    for (const absl::string_view name : absl::StrSplit(take("in"), ',')) {
      in.push_back(arrays.at(std::string(name)));
    }
    const Array expected = StoredArray(*bytes, take("out"));
    float tolerance = 0;
    ASSERT_TRUE(absl::SimpleAtof(take("tolerance"), &tolerance));
    ++num_cases[words[1]];
    const auto actual = testing::CallOp(words[1], in, args);
    if (!actual.ok()) {
      ADD_FAILURE() << actual.status();
      continue;
    }
    const double unit = IsInteger(expected.dtype()) ? 1 : LargestMagnitude(expected);
    const Difference difference = Compare(*actual, expected, {.absolute = tolerance * unit});
    EXPECT_TRUE(difference.equal) << difference.report;
  }
  // Each function has cases.
  for (const std::string& name : testing::OpNames()) EXPECT_GT(num_cases[name], 0) << name;
}

}  // namespace
}  // namespace estimator::image
