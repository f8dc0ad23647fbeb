// Labels of CTCLoss, which TensorFlow's programs take from padded ones: indices = tf.where(mask),
// values = tf.gather_nd(padded, indices).
//
// The number of true elements is not static. So each element of the mask keeps its row here, and
// CTCLoss gets the class of the blank, which ends the labels, for those that are false.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_ROWS_WHERE_ROWS_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_ROWS_WHERE_ROWS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/graph/tensor.h"
#include "estimator/graphdef/import/flat_graph.h"

namespace estimator {

struct WhereRows {
  std::map<int, int> origins;           // a node with a row for each row of a Where -> the Where
  std::map<int, int> losses;            // a CTCLoss -> the Where of its labels
  std::map<int, std::string> problems;  // nodes that cannot be imported
};
//   sorted: the nodes, inputs before their readers.  results: what is read besides by nodes.
WhereRows FindWhereRows(const FlatGraph& nodes, const std::vector<int>& sorted,
                        const std::vector<bool>& needed, const std::vector<FlatTensor>& results);

// The outputs of a Where: the indices of all elements.
absl::StatusOr<Tensor> AllIndices(const Tensor& mask, const std::string& name);
// The operand labels_values of a CTCLoss, where `mask` is false the blank.
Tensor WithPadding(const Tensor& values, const Tensor& mask, const Tensor& logits);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_ROWS_WHERE_ROWS_H_
