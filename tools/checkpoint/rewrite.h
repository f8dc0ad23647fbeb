// The commands that write a new checkpoint from another: rename, cast, extract. Values are copied
// in pieces, and their crc32c is verified. Partitioned variables stay partitioned. The new
// checkpoint has one data file, and gets its name only when it is complete.
#ifndef TOOLS_CHECKPOINT_REWRITE_H_
#define TOOLS_CHECKPOINT_REWRITE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/dtype.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "tools/checkpoint/arguments.h"

namespace estimator {

// Copies the stored bytes of a variable of any dtype to a new name.
absl::Status CopyVariable(const BundleReader& reader, const std::string& name,
                          const std::string& new_name, BundleWriter& writer);

// Reads the input position beside a checkpoint (PREFIX.input). Returns nullopt if there is none.
absl::StatusOr<std::optional<std::string>> ReadInputState(const std::string& prefix);

// Finishes `output` in the order of Saver: the input position, then the index. Removes files of an
// older checkpoint of this name that do not belong to the new variables: its graph (OUTPUT.meta),
// and with a nullopt `input_state` its input position. No command copies the source's graph,
// because it has the old names and dtypes. Returns a note for users about these files, or "".
absl::StatusOr<std::string> FinishCheckpoint(BundleWriter& writer, const std::string& output,
                                             const std::optional<std::string>& input_state);

// Each command returns lines for users that say what it did. Rename and Cast copy the input
// position. Extract does not: a part of the variables is not enough to continue a run.

// Copies every variable, and renames those that `map` contains.
// Errors: as NameMap::Apply.
absl::StatusOr<std::string> Rename(const BundleReader& reader, const NameMap& map,
                                   const std::string& output);

struct CastOptions {
  // float32, bfloat16, float16 or float64; or, for variables such as global_step, int32 or int64.
  DType to = DType::kFloat32;
  // Only variables of these dtypes are cast. They must be floating if `to` is, and integers if not.
  // Empty: all floating dtypes, or all integer dtypes.
  std::vector<DType> from = {};
  NameFilter filter = {};  // other variables are copied
};
// Whether `dtype` is one of the six that CastOptions::to may be.
bool IsCastDType(DType dtype);

// Casts as TensorFlow's Cast does, and rounds to the nearest even. Floating numbers that are too
// large become infinite; the returned text has their number.
// Errors: OUT_OF_RANGE for an integer that is too large.
absl::StatusOr<std::string> Cast(const BundleReader& reader, const CastOptions& options,
                                 const std::string& output);

// Copies the named variables and, if a filter is given, those that it selects.
// Errors: NOT_FOUND naming all variables that do not exist, with the nearest names.
absl::StatusOr<std::string> Extract(const BundleReader& reader,
                                    const std::vector<std::string>& names, const NameFilter& filter,
                                    const std::string& output);

// Copies the variables that the filter selects into a checkpoint of today's format. If `output`
// ends in .h5 or .hdf5, writes the weights among them for Keras: slots and averages of other
// variables, and variables without a layer, such as global_step, are left out.
// Errors: as WriteKerasWeights.
absl::StatusOr<std::string> Convert(const BundleReader& reader, const NameFilter& filter,
                                    const std::string& output);

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_REWRITE_H_
