// Numbers as strings: what names the classes of a classification.
#ifndef ESTIMATOR_OPS_STRINGS_H_
#define ESTIMATOR_OPS_STRINGS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "estimator/graph/tensor.h"

namespace estimator {

struct AsStringOptions {
  int64_t precision = -1;   // digits after the point; -1: 6. Floating numbers only
  bool scientific = false;  // 1.5e+00. Floating numbers only
  bool shortest = false;    // the shorter of 1.5 and 1.5e+00. Floating numbers only
  int64_t width = -1;       // characters, at least
  std::string fill = "";    // a flag of printf: one of ' ', '+', '-', '0', '#', or nothing
};
// x in words, as printf has them ("%f", "%d"; "true", "false"), of any dtype. No gradient.
// Errors: INVALID_ARGUMENT for options that do not fit together, or not the dtype.
// Source: TF 2.15 tf.strings.as_string.
Tensor AsString(const Tensor& x, const AsStringOptions& options = {},
                absl::string_view name = "AsString");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_STRINGS_H_
