#include "estimator/export/any_batch/batch_constant.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "estimator/export/any_batch/uniform_array.h"

namespace estimator {
namespace {

// value = (slope * size + intercept) / divisor, with divisor > 0, in lowest terms.
struct Line {
  int64_t slope = 0;
  int64_t intercept = 0;
  int64_t divisor = 1;
};
// Numbers above this are keys and hashes, not sizes. Numbers below it can be multiplied by batch
// sizes without overflow.
constexpr int64_t kMaxVarying = int64_t{1} << 40;

// Returns the line through the values at three sizes, or nullopt if they are not on a line.
std::optional<Line> LineThrough(const std::vector<int64_t>& values,
                                const std::vector<int64_t>& sizes) {
  if (values[0] == values[1] && values[0] == values[2]) return Line{.intercept = values[0]};
  for (const int64_t value : values) {
    if (std::abs(value) > kMaxVarying) return std::nullopt;
  }
  const int64_t rise = values[1] - values[0], run = sizes[1] - sizes[0];
  // Products are compared, because quotients would be rounded.
  if (rise * (sizes[2] - sizes[0]) != (values[2] - values[0]) * run) return std::nullopt;
  const int64_t common = std::gcd(rise, run) * (run < 0 ? -1 : 1);
  const int64_t slope = rise / common, divisor = run / common;
  return Line{slope, values[0] * divisor - slope * sizes[0], divisor};
}

std::optional<std::vector<Line>> LinesThrough(const std::vector<std::vector<int64_t>>& values,
                                              const std::vector<int64_t>& sizes) {
  std::vector<Line> lines;
  for (size_t i = 0; i < values[0].size(); ++i) {
    const std::optional<Line> line = LineThrough({values[0][i], values[1][i], values[2][i]}, sizes);
    if (!line.has_value()) return std::nullopt;
    lines.push_back(*line);
  }
  return lines;
}

// Returns the elements as integers, or nullopt if one is not an integer. Numbers of a floating
// dtype may be counts of rows.
std::optional<std::vector<int64_t>> Ints(const Array& array) {
  const DType dtype = array.dtype();
  const bool floating = dtype == DType::kFloat32 || dtype == DType::kFloat64;
  if (!floating && dtype != DType::kInt32 && dtype != DType::kInt64) return std::nullopt;
  std::vector<int64_t> ints;
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    const double value = array.AsDouble(i);
    // Above 2^24 a float32 does not represent all integers.
    if (floating && (value != std::floor(value) || std::abs(value) > 1 << 24)) return std::nullopt;
    ints.push_back(static_cast<int64_t>(value));
  }
  return ints;
}

// The slopes and intercepts of the lines as arrays of `dtype`, or nullopt if one has a divisor.
std::optional<BatchConstant> Whole(BatchConstant::Kind kind, const std::vector<Line>& lines,
                                   DType dtype, const Shape& shape) {
  Array slopes(DType::kInt64, shape), intercepts(DType::kInt64, shape);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].divisor != 1) return std::nullopt;
    slopes.data<int64_t>()[i] = lines[i].slope;
    intercepts.data<int64_t>()[i] = lines[i].intercept;
  }
  return BatchConstant{
      .kind = kind, .slope = slopes.Cast(dtype), .intercept = intercepts.Cast(dtype)};
}

}  // namespace

std::optional<BatchConstant> AffineShape(const std::vector<std::vector<int64_t>>& dims,
                                         const std::vector<int64_t>& sizes) {
  const auto lines = LinesThrough(dims, sizes);
  if (!lines.has_value()) return std::nullopt;
  return Whole(BatchConstant::Kind::kAffine, *lines, DType::kInt64,
               {static_cast<int64_t>(dims[0].size())});
}

std::optional<BatchConstant> AffineConstant(const std::vector<Array>& values,
                                            const std::vector<int64_t>& sizes,
                                            bool is_reshape_shape) {
  std::vector<std::vector<int64_t>> ints;
  for (const Array& value : values) {
    std::optional<std::vector<int64_t>> whole = Ints(value);
    if (!whole.has_value()) return std::nullopt;
    ints.push_back(*std::move(whole));
  }
  const auto lines = LinesThrough(ints, sizes);
  if (!lines.has_value()) return std::nullopt;
  int64_t index = 0, varying = 0;
  bool others_positive = true;
  for (size_t i = 0; i < lines->size(); ++i) {
    if ((*lines)[i].slope != 0) {
      ++varying;
      index = static_cast<int64_t>(i);
    } else if ((*lines)[i].intercept <= 0) {
      others_positive = false;  // a second -1, or an empty tensor, for which -1 is ambiguous
    }
  }
  // A -1 needs no further node, and it can also stand for a size with a divisor.
  if (varying == 1 && others_positive && is_reshape_shape) {
    const Line& line = (*lines)[static_cast<size_t>(index)];
    return BatchConstant{.kind = BatchConstant::Kind::kReshape,
                         .index = index,
                         .divisor = line.divisor,
                         .slope = Array::Scalar(line.slope),
                         .intercept = Array::Scalar(line.intercept)};
  }
  return Whole(BatchConstant::Kind::kAffine, *lines, values[0].dtype(), values[0].shape());
}

std::optional<BatchConstant> FilledConstant(const std::vector<Array>& values,
                                            const std::vector<int64_t>& sizes) {
  const int rank = values[0].shape().rank();
  for (const Array& value : values) {
    if (!IsUniform(value) || value.shape().rank() != rank) return std::nullopt;
    if (std::memcmp(value.raw(), values[0].raw(), DTypeSize(value.dtype())) != 0)
      return std::nullopt;
  }
  const auto lines = LinesThrough(
      {values[0].shape().dims(), values[1].shape().dims(), values[2].shape().dims()}, sizes);
  if (!lines.has_value()) return std::nullopt;
  auto constant = Whole(BatchConstant::Kind::kFill, *lines, DType::kInt32, {rank});
  if (constant.has_value()) constant->value = FirstElement(values[0]).Clone();
  return constant;
}

}  // namespace estimator
