// Commands that write a new checkpoint from one: rename, cast, extract. Values go through in
// pieces, their crc32c is verified on the way; partitioned variables stay partitioned; the new
// checkpoint has one data file and stands under its name when it is whole.
#ifndef TOOLS_CHECKPOINT_REWRITE_H_
#define TOOLS_CHECKPOINT_REWRITE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/dtype.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "tools/checkpoint/arguments.h"

namespace estimator {

// Copies a variable of any dtype as it is stored, under a new name.
absl::Status CopyVariable(const BundleReader& reader, const std::string& name,
                          const std::string& new_name, BundleWriter& writer);

// The position of the input that stands beside a checkpoint (PREFIX.input); nullopt if none does.
absl::StatusOr<std::optional<std::string>> ReadInputState(const std::string& prefix);

// Finishes `output` in Saver's order: the position of the input, then the index. With nullopt, the
// position that an older checkpoint of this name left there is removed: it is not that of the new
// variables. So is its graph (OUTPUT.meta), and no command takes the source's along: it has the old
// names and dtypes. Returns a note for people of what became of both; empty if there was none.
absl::StatusOr<std::string> FinishCheckpoint(BundleWriter& writer, const std::string& output,
                                             const std::optional<std::string>& input_state);

// Each returns what it did, a line or more for people. Rename and Cast take the position of the
// input along; Extract leaves it out, as a part of the variables is no run to go on with.

// Every variable, renamed where `map` says so. Source: NameMap::Apply for errors.
absl::StatusOr<std::string> Rename(const BundleReader& reader, const NameMap& map,
                                   const std::string& output);

struct CastOptions {
  // float32, bfloat16, float16 or float64; or int32 or int64, the dtypes that programs keep
  // global_step in.
  DType to = DType::kFloat32;
  std::vector<DType> from = {};  // of the kind of `to`, floating or integers; empty: all of them
  NameFilter filter = {};        // the rest is copied
};
bool IsCastDType(DType dtype);  // one of those six

// As TensorFlow's Cast, rounded to the nearest even. Floating numbers that do not fit become
// infinities, which are counted and said. Errors: OUT_OF_RANGE for an integer that does not fit.
absl::StatusOr<std::string> Cast(const BundleReader& reader, const CastOptions& options,
                                 const std::string& output);

// The variables named, and those that pass the filter if there is one.
absl::StatusOr<std::string> Extract(const BundleReader& reader,
                                    const std::vector<std::string>& names, const NameFilter& filter,
                                    const std::string& output);

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_REWRITE_H_
