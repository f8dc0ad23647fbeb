// The flags that to_tfrecord and imagenet_to_tfrecord share, and what they print.
#ifndef TOOLS_TO_TFRECORD_CONVERTER_FLAGS_H_
#define TOOLS_TO_TFRECORD_CONVERTER_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gflags/gflags_declare.h"
#include "tools/to_tfrecord/convert.h"

DECLARE_string(input_dir);
DECLARE_string(output_dir);
DECLARE_bool(shuffle);
DECLARE_uint64(seed);

namespace estimator {

// The options that the shared flags state.
// Errors: a UsageError for values out of range, and for flags that are not given but must be.
absl::StatusOr<ConvertOptions> ConvertOptionsOfFlags();

// Whether the user passed the flag.
bool FlagIsGiven(const std::string& name);

// Writes all splits with Convert, and prints what was written and which files were left out.
absl::Status ConvertAndReport(const SampleSet& set, std::vector<Split> splits,
                              const ConvertOptions& options);

}  // namespace estimator

#endif  // TOOLS_TO_TFRECORD_CONVERTER_FLAGS_H_
