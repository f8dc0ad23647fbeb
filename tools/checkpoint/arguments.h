// The arguments of the checkpoint tool's commands: filters, name maps, outputs.
#ifndef TOOLS_CHECKPOINT_ARGUMENTS_H_
#define TOOLS_CHECKPOINT_ARGUMENTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/bundle_reader.h"

namespace estimator {

// Selects the variables of a command: names in which `include` is found, and `exclude` is not. Both
// are regular expressions (Python's) and are searched in the name. An empty one has no effect.
struct NameFilter {
  std::string include = {};
  std::string exclude = {};
};

// Returns the names of the checkpoint's variables that the filter selects, sorted by bytes.
// Errors: INVALID_ARGUMENT for a bad expression; NOT_FOUND if a filter is given and selects
// nothing.
absl::StatusOr<std::vector<std::string>> SelectNames(const BundleReader& reader,
                                                     const NameFilter& filter);

// Maps old names to new names. An entry is the name of a variable or a scope, and also renames all
// names below it, so that slots are renamed with their variable. If several entries match, the
// longest one counts.
class NameMap {
 public:
  // Parses "old=new,old2=new2", or the path of a file with one entry per line:
  //   # a comment
  //   old=new
  //   old2 new2
  static absl::StatusOr<NameMap> Parse(absl::string_view map);

  // Returns the new name of each of `names`.
  // Errors: NOT_FOUND listing all entries that match no name, with the nearest names;
  // INVALID_ARGUMENT listing all pairs of names that would become one.
  absl::StatusOr<std::map<std::string, std::string>> Apply(
      const std::vector<std::string>& names) const;

 private:
  std::map<std::string, std::string> new_names_;  // by old
};

// Checks that a new checkpoint can be written to `prefix`, and creates its directory.
// Errors: INVALID_ARGUMENT if `prefix` is a directory; ALREADY_EXISTS if there is a checkpoint and
// `force` is false.
absl::Status PrepareOutput(const std::string& prefix, bool force);

// Returns CANCELLED after Ctrl-C. Call it in loops over pieces of data.
absl::Status CheckInterrupt();

}  // namespace estimator

#endif  // TOOLS_CHECKPOINT_ARGUMENTS_H_
