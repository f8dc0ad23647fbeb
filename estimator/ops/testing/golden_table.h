// The op goldens of testdata/ops: results of TensorFlow's ops and of their gradients, as a table
// and a checkpoint. generate.py in that folder writes both.
//
// cases.txt has one line for each case; words are separated by spaces, and # begins a comment:
//   OP NAME tolerance=CLASS inputs=N outputs=N [const=I,J] [d=I,J] ATTRIBUTE=TYPE:VALUE ...
//     OP      a registered op, or fn.FUNCTION: one of our functions that is made of several ops
//     const   the operands that are constants of the graph
//     d       the floating operands that were differentiated
//     TYPE    b, i, f, s (text), t (dtype), d (shape; -1 is unknown), a (array, in the checkpoint),
//             li, lf, ls (lists, separated by commas)
// absent.txt has one line for each case that TensorFlow gives no golden for: OP NAME REASON.
// The checkpoint `goldens` has these keys under OP/NAME/:
//     in/I    input I
//     out/I   output I, if it is compared
//     dy/I    the gradient that flows into output I, if it is differentiated
//     d/I     the gradient of operand I; absent if TensorFlow has none
//     attr    the array of an attribute
#ifndef ESTIMATOR_OPS_TESTING_GOLDEN_TABLE_H_
#define ESTIMATOR_OPS_TESTING_GOLDEN_TABLE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/array/attrs.h"
#include "estimator/checkpoint/bundle_reader.h"

namespace estimator::testing {

struct GoldenCase {
  std::string op = "";
  std::string name = "";
  std::string tolerance = "";
  Attrs attrs = {};
  int num_outputs = 0;
  std::vector<Array> inputs = {};
  std::set<int> constants = {};       // operands
  std::map<int, Array> outputs = {};  // the outputs that are compared
  std::map<int, Array> grad_ys = {};  // by output
  std::set<int> differentiated = {};  // operands
  std::map<int, Array> grads = {};    // by operand; absent if TensorFlow has no gradient
};

// Reads `folder`/cases.txt and the checkpoint `folder`/goldens, in the order of the table.
// Errors: errors of reading the files; INVALID_ARGUMENT naming the malformed line.
absl::StatusOr<std::vector<GoldenCase>> ReadGoldens(absl::string_view folder);

struct AbsentGolden {
  std::string op;
  std::string name;
  std::string reason;  // free text
};

// Reads `folder`/absent.txt. Errors: as above.
absl::StatusOr<std::vector<AbsentGolden>> ReadAbsentGoldens(absl::string_view folder);

}  // namespace estimator::testing

#endif  // ESTIMATOR_OPS_TESTING_GOLDEN_TABLE_H_
