#include "estimator/array/compare.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace estimator {
namespace {

std::string IndexString(const Shape& shape, int64_t flat) {
  std::vector<int64_t> index;
  for (const int64_t stride : shape.strides()) {
    index.push_back(flat / stride);
    flat %= stride;
  }
  return Shape(std::move(index)).ToString();
}

void CompareStrings(const Array& actual, const Array& expected, Difference* difference) {
  for (int64_t i = 0; i < actual.num_elements(); ++i) {
    const std::string& a = actual.data<std::string>()[i];
    const std::string& b = expected.data<std::string>()[i];
    if (a == b) continue;
    if (difference->num_different++ == 0) {
      difference->worst_index = i;
      difference->report = absl::StrCat("; first at ", IndexString(actual.shape(), i), ": '", a,
                                        "' is not '", b, "'");
    }
  }
}

}  // namespace

Difference Compare(const Array& actual, const Array& expected, Tolerance tolerance) {
  Difference difference;
  if (actual.dtype() != expected.dtype() || !(actual.shape() == expected.shape())) {
    difference.equal = false;
    difference.report = absl::StrCat(actual.TypeString(), " is not ", expected.TypeString());
    return difference;
  }
  if (actual.dtype() == DType::kString) {
    CompareStrings(actual, expected, &difference);
  } else {
    double worst = -1;
    for (int64_t i = 0; i < actual.num_elements(); ++i) {
      const double a = actual.AsDouble(i);
      const double b = expected.AsDouble(i);
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      // An infinity or a NaN against a finite number differs under every tolerance.
      const double error = std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : HUGE_VAL;
      const double relative = error / std::max(std::abs(b), 1e-300);
      difference.max_absolute = std::max(difference.max_absolute, error);
      difference.max_relative = std::max(difference.max_relative, relative);
      const double excess = error - (tolerance.absolute + tolerance.relative * std::abs(b));
      if (excess <= 0) continue;
      ++difference.num_different;
      if (error > worst) {
        worst = error;
        difference.worst_index = i;
      }
    }
    if (difference.num_different > 0) {
      difference.report = absl::StrFormat(
          "; worst at %s: %.9g is not %.9g", IndexString(actual.shape(), difference.worst_index),
          actual.AsDouble(difference.worst_index), expected.AsDouble(difference.worst_index));
    }
  }
  difference.equal = difference.num_different == 0;
  if (!difference.equal) {
    difference.report =
        absl::StrFormat("%d of %d elements differ%s (%s, rtol %g, atol %g)",
                        difference.num_different, actual.num_elements(), difference.report,
                        actual.TypeString(), tolerance.relative, tolerance.absolute);
  }
  return difference;
}

bool SameBits(const Array& a, const Array& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  if (!a.valid()) return true;
  if (a.dtype() == DType::kString) return Compare(a, b).equal;
  return a.num_bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.num_bytes()) == 0;
}

}  // namespace estimator
