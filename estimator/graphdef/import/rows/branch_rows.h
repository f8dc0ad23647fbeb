// Gradients of rows that one branch of a tf.cond looks up in a table: their values and indices
// (IndexedSlices).
//
// Another branch has a zero row for each row of the table, so the branches have different numbers
// of rows. Shapes are static here, so a branch of fewer rows gets more: zeros, whose index is its
// first one. That changes no sum of the rows of an index.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_ROWS_BRANCH_ROWS_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_ROWS_BRANCH_ROWS_H_

#include <cstdint>
#include <set>
#include <vector>

#include "estimator/graph/tensor.h"
#include "estimator/graphdef/import/branches.h"
#include "estimator/graphdef/import/flat_graph.h"

namespace estimator {

// Results of Merges, Ifs and Cases to which such rows can be added, because of all that reads them.
struct BranchRows {
  std::set<FlatTensor> values, indices;
  std::set<FlatTensor> factors;  // those of `values` that a product reads
  std::set<int> scatters;        // what changes a variable in rows that have such indices
};
//   sorted: the nodes, inputs before their readers.  results: what is read besides by nodes.
BranchRows FindBranchRows(const FlatGraph& nodes, const Branches& branches,
                          const std::vector<int>& sorted, const std::vector<bool>& needed,
                          const std::vector<FlatTensor>& results);

// `value` [n, ...] with `num_rows` rows, more than n: the others are zeros, or as the first one.
// REQUIRES: n > 0 without `zeros`, and then rank 1.
Tensor WithRows(const Tensor& value, int64_t num_rows, bool zeros);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_ROWS_BRANCH_ROWS_H_
