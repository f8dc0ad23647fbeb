// Calls the functions that a user passes to a dataset.
#ifndef ESTIMATOR_DATA_PIPELINE_USER_FUNCTION_H_
#define ESTIMATOR_DATA_PIPELINE_USER_FUNCTION_H_

#include <exception>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "estimator/data/pipeline/element.h"

namespace estimator {

inline absl::Status ThrownError(const std::exception& thrown, const Element& element) {
  return absl::InternalError(absl::StrCat("the function threw an exception: ", thrown.what(),
                                          "; the element is ", element.ToString()));
}
template <typename Argument>
absl::Status ThrownError(const std::exception& thrown, const Argument&) {
  return absl::InternalError(absl::StrCat("the function threw an exception: ", thrown.what()));
}

// Returns fn(argument), or an INTERNAL error if fn throws. It may run on a thread of the pipeline,
// where an exception would end the process.
//   fn: returns a StatusOr.  argument: an Element, an index, or a Dataset.
template <typename Function, typename Argument>
auto CallUserFunction(const Function& fn, const Argument& argument) -> decltype(fn(argument)) {
  try {
    return fn(argument);
  } catch (const std::exception& thrown) {
    return ThrownError(thrown, argument);
  }
}

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_USER_FUNCTION_H_
