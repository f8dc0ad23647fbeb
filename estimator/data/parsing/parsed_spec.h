// The element specs of what ParseExample and ParseSequenceExample return.
#ifndef ESTIMATOR_DATA_PARSING_PARSED_SPEC_H_
#define ESTIMATOR_DATA_PARSING_PARSED_SPEC_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/shape.h"
#include "estimator/data/parsing/feature_spec.h"
#include "estimator/data/pipeline/element_spec.h"

namespace estimator {

// The spec of elements that ParseExample(specs, labels) makes of elements of the spec `input`. If
// the input has an axis of Examples, so has each result. If the spec or the rank of the input is
// not known, the shapes of the results are not known either.
// Errors: INVALID_ARGUMENT if `input` is not one string array of rank 0 or 1; NOT_FOUND for a label
// that is not among the features.
// REQUIRES: CheckFeatureSpecs(specs) is OK.
absl::StatusOr<ElementSpec> ParsedExampleSpec(const FeatureSpecs& specs,
                                              const std::vector<std::string>& labels,
                                              const std::optional<ElementSpec>& input);

// The same for ParseSequenceExample(context, sequences, labels), whose input is one string.
absl::StatusOr<ElementSpec> ParsedSequenceExampleSpec(const FeatureSpecs& context,
                                                      const FeatureSpecs& sequences,
                                                      const std::vector<std::string>& labels,
                                                      const std::optional<ElementSpec>& input);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PARSING_PARSED_SPEC_H_
