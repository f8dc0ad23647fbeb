// Gradients of some rows of a table, which TensorFlow sums with Unique and UnsortedSegmentSum.
//
// The number of unique rows is not static. So each look-up keeps its row here: a row that was
// looked up twice occurs twice, with the same sum. Ops that work on each row by itself give the
// same result for both, and writing a row twice is harmless.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_UNIQUE_ROWS_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_UNIQUE_ROWS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/graphdef/import/flat_graph.h"
#include "estimator/graphdef/import/variable_order.h"

namespace estimator {

// Whether an op computes each row by itself.
bool IsByElement(absl::string_view op);

struct UniqueRows {
  std::map<int, int> origins;           // a node whose outputs have a row for each of a Unique
  std::map<int, int> variables;         // a Unique -> a variable whose rows it numbers
  std::map<int, std::string> problems;  // nodes that cannot be imported
};

UniqueRows FindUniqueRows(const FlatGraph& nodes, const VariableOrder& order,
                          const std::vector<bool>& needed);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_UNIQUE_ROWS_H_
