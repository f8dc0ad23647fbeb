// Collects everything that prevents an import into one error.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_CHECK_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_CHECK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/array/tensor_spec.h"

namespace estimator {

namespace proto {
class NodeDef;
}  // namespace proto

// Ops that ImportGraphDef builds itself, without an ImportRule: variables and tf.io.parse_example.
bool IsVariableOp(absl::string_view op);
bool IsParseExampleOp(absl::string_view op);

// The reason why a node cannot be imported: "not supported", "data_format = NCHW",
// "dtype DT_COMPLEX64". nullopt if it can be imported.
std::optional<std::string> ImportProblem(const proto::NodeDef& node);

// Checks that the node `def` can be fed with `spec`.
// Errors: INVALID_ARGUMENT if the dtype or the shape differs, if the shape is not fully known, and
// for more than `max_elements`.
absl::Status CheckFeed(absl::string_view name, const TensorSpec& spec, const proto::NodeDef& def,
                       int64_t max_elements);

class ImportProblems {
 public:
  void Add(absl::string_view op, std::string reason, absl::string_view node);
  // OK, or UNIMPLEMENTED with a table of op, reason, count, first node.
  absl::Status status() const;

 private:
  struct Entry {
    int count = 0;
    std::string first;
  };
  std::map<std::pair<std::string, std::string>, Entry> entries_;
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_CHECK_H_
