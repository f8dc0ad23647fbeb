// What the commands of the checkpoint tool are given: checkpoints, filters, name maps, outputs.
#ifndef TOOLS_CHECKPOINT_ARGUMENTS_H_
#define TOOLS_CHECKPOINT_ARGUMENTS_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/bundle_reader.h"

namespace estimator {

// Which variables a command is about: those whose name `include` finds something in and `exclude`
// does not. Regular expressions (Python's); an empty one is left out.
struct NameFilter {
  std::string include = {};
  std::string exclude = {};
};

// The names of the checkpoint that pass, sorted by bytes.
// Errors: INVALID_ARGUMENT for a bad expression; NOT_FOUND if there is one and nothing passes.
absl::StatusOr<std::vector<std::string>> SelectNames(const BundleReader& reader,
                                                     const NameFilter& filter);

// Old names to new ones. An entry is a variable, or a scope: it takes what stands below it along,
// so slots follow their variable. The longest entry that fits counts.
class NameMap {
 public:
  // "old=new,old2=new2", or the path of a file of such entries: one a line, "old=new" or
  // "old new", # begins a comment.
  static absl::StatusOr<NameMap> Parse(absl::string_view map);

  // The new name of each of `names`. Errors: NOT_FOUND for entries that fit none, with the nearest
  // name; INVALID_ARGUMENT where two names become one. All of them together.
  absl::StatusOr<std::map<std::string, std::string>> Apply(
      const std::vector<std::string>& names) const;

 private:
  std::map<std::string, std::string> new_names_;  // by old
};

// Where a new checkpoint goes. Makes its directory.
// Errors: INVALID_ARGUMENT if it is a directory; ALREADY_EXISTS if a checkpoint is there and not
// `force`.
absl::Status PrepareOutput(const std::string& prefix, bool force);

// CANCELLED once Ctrl-C was pressed: for loops over pieces of data.
absl::Status CheckInterrupt();

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_ARGUMENTS_H_
