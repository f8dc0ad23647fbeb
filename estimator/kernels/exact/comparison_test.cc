#include <limits>
#include <map>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// Numbers of which many are equal.
Array Small(const Shape& shape, uint64_t seed, DType dtype) {
  return RandomArray(shape, seed, 0, 4).Cast(DType::kInt32).Cast(dtype);
}

using Function = bool (*)(double x, double y);
const std::map<std::string, Function>& Comparisons() {
  static const auto& functions = *new std::map<std::string, Function>{
      {"Equal", [](double x, double y) { return x == y; }},
      {"NotEqual", [](double x, double y) { return x != y; }},
      {"Less", [](double x, double y) { return x < y; }},
      {"LessEqual", [](double x, double y) { return x <= y; }},
      {"Greater", [](double x, double y) { return x > y; }},
      {"GreaterEqual", [](double x, double y) { return x >= y; }},
  };
  return functions;
}

// Expects the values of `function` for all elements, whose operands broadcast.
void ExpectValues(const std::string& op, Function function, const Array& x, const Array& y,
                  const Shape& out) {
  static const Array zero = Array::Scalar(false), one = Array::Scalar(true);
  const auto value = [](const Array& from, std::vector<int64_t> index) {
    index.erase(index.begin(), index.end() - from.shape().rank());
    int64_t at = 0;
    for (size_t a = 0; a < index.size(); ++a)
      at += from.shape().dims()[a] == 1 ? 0 : index[a] * from.shape().strides()[a];
    return from.AsDouble(at);
  };
  EXPECT_MATCHES_SOURCES({.op = op, .outputs = {{DType::kBool, out}}}, {x, y},
                         [&](size_t, const std::vector<int64_t>& index) {
                           return Source{function(value(x, index), value(y, index)) ? &one : &zero};
                         })
      << x.TypeString() << " " << y.TypeString();
}

struct Shapes {
  Shape x, y, out;
};

TEST(Comparison, EveryShapeAndType) {
  for (const Shapes& s :
       {Shapes{{300, 129}, {300, 129}, {300, 129}}, Shapes{{37, 129}, {}, {37, 129}},
        Shapes{{37, 1}, {1, 129}, {37, 129}}, Shapes{{37, 129}, {129}, {37, 129}},
        Shapes{{5, 1, 7, 1}, {6, 1, 9}, {5, 6, 7, 9}}, Shapes{{0, 3}, {3}, {0, 3}},
        Shapes{{}, {}, {}}}) {
    for (const DType dtype : {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kUint8,
                              DType::kBool, DType::kBfloat16}) {
      const Array x = Small(s.x, 1, dtype), y = Small(s.y, 2, dtype);
      for (const auto& [op, function] : Comparisons()) ExpectValues(op, function, x, y, s.out);
    }
  }
}

TEST(Comparison, NothingIsEqualToOrLessThanNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Array x = Array::Of<float>({4}, {nan, nan, 1, -0.0f}),
              y = Array::Of<float>({4}, {nan, 1, nan, 0.0f});
  for (const auto& [op, function] : Comparisons()) ExpectValues(op, function, x, y, {4});
}

TEST(Comparison, Strings) {
  const auto less =
      RunKernel({.op = "Less", .outputs = {{DType::kBool, {2}}}},
                {Array::Strings({"a", "b"}), Array::Strings({"ab", "ab"})}, KernelTier::kFused);
  EST_ASSERT_OK(less);
  EXPECT_TRUE((*less)[0].data<bool>()[0]);
  EXPECT_FALSE((*less)[0].data<bool>()[1]);
}

TEST(Comparison, Logic) {
  const Array x = Small({90, 101}, 1, DType::kBool), row = Small({101}, 2, DType::kBool);
  ExpectValues("LogicalAnd", [](double a, double b) { return a != 0 && b != 0; }, x, row,
               {90, 101});
  ExpectValues("LogicalOr", [](double a, double b) { return a != 0 || b != 0; }, x, row, {90, 101});
  const auto negated = RunKernel({.op = "LogicalNot", .outputs = {{DType::kBool, {90, 101}}}}, {x},
                                 KernelTier::kFused);
  EST_ASSERT_OK(negated);
  for (int64_t i = 0; i < x.num_elements(); ++i)
    EXPECT_EQ((*negated)[0].data<bool>()[i], !x.data<bool>()[i]) << i;
}

}  // namespace
}  // namespace estimator
