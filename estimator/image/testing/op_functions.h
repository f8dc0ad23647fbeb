// Calls functions of image sizes and colors by name, for files that list calls:
// testdata/images/ops.txt and the jobs of tools/interop/image_tool.
#ifndef ESTIMATOR_IMAGE_TESTING_OP_FUNCTIONS_H_
#define ESTIMATOR_IMAGE_TESTING_OP_FUNCTIONS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"

namespace estimator::image::testing {

// The arguments of a call by name, as text. One that is absent is 0 or false.
using OpArguments = std::map<std::string, std::string>;

// The names that CallOp knows, in the spelling of resize.h, crop_and_resize.h and color.h.
std::vector<std::string> OpNames();

// Calls a function. The names of arguments are TensorFlow's: size=3,4 method=bicubic antialias=1
// delta=0.1 dtype=uint8.
//   in: its arrays, in their order.
// Errors: UNIMPLEMENTED for another name; INVALID_ARGUMENT if an argument cannot be parsed; the
//   errors of the function.
absl::StatusOr<Array> CallOp(StringArg function, const std::vector<Array>& in,
                             const OpArguments& arguments);

}  // namespace estimator::image::testing

#endif  // ESTIMATOR_IMAGE_TESTING_OP_FUNCTIONS_H_
