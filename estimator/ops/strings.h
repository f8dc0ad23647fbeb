// Converts numbers to strings, for example for the names of classes.
#ifndef ESTIMATOR_OPS_STRINGS_H_
#define ESTIMATOR_OPS_STRINGS_H_

#include <cstdint>
#include <string>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

struct AsStringOptions {
  int64_t precision = -1;   // digits after the point; -1: 6. For floating numbers only
  bool scientific = false;  // 1.5e+00. For floating numbers only
  bool shortest = false;    // the shorter of 1.5 and 1.5e+00. For floating numbers only
  int64_t width = -1;       // the least number of characters
  std::string fill = "";    // a flag of printf: ' ', '+', '-', '0' or '#'; "": none
};
// x as printf writes it ("%f", "%d"; a bool as "true" or "false"), of any dtype. No gradient.
// Errors: INVALID_ARGUMENT if options do not fit together, or do not fit the dtype.
// Source: TF 2.15 tf.strings.as_string.
Tensor AsString(const Tensor& x, const AsStringOptions& options = {}, StringArg name = "AsString");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_STRINGS_H_
