// The op goldens of testdata/ops: what TensorFlow's ops and their gradients gave, as a table and a
// checkpoint, both written by generate.py there.
//
// cases.txt has a line a case, words separated by spaces; # begins a comment:
//   OP NAME tolerance=CLASS inputs=N outputs=N [const=I,J] [d=I,J] ATTRIBUTE=TYPE:VALUE ...
//   const: the operands that are constants of the graph.
//   d: the floating operands that were differentiated.
//   TYPE: b, i, f, s (text), t (a dtype), d (a shape; -1 is unknown), a (an array, in the
//   checkpoint), li, lf, ls (lists, by commas).
//   OP is a registered op, or fn.FUNCTION: a function of ours that is made of several.
// absent.txt has a line for every row that TensorFlow gives no golden for: OP NAME REASON.
// The checkpoint `goldens` holds, under OP/NAME/: in/I; out/I, where output I is compared; dy/I,
// the gradient that flows into it, where it is differentiated; d/I, the gradient of operand I,
// absent where TensorFlow has none; attr, the array of an attribute.
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
  std::string op;
  std::string name;
  std::string tolerance;
  Attrs attrs;
  int num_outputs = 0;
  std::vector<Array> inputs;
  std::set<int> constants;       // operands
  std::map<int, Array> outputs;  // those that are compared
  std::map<int, Array> grad_ys;  // by output
  std::set<int> differentiated;  // operands
  std::map<int, Array> grads;    // by operand, where there is one
};

// Reads `folder`/cases.txt and the checkpoint `folder`/goldens, in the table's order.
// Errors: of the files; INVALID_ARGUMENT naming the line that is not as above.
absl::StatusOr<std::vector<GoldenCase>> ReadGoldens(absl::string_view folder);

struct AbsentGolden {
  std::string op;
  std::string name;
  std::string reason;  // in words
};

// Reads `folder`/absent.txt. Errors: as above.
absl::StatusOr<std::vector<AbsentGolden>> ReadAbsentGoldens(absl::string_view folder);

}  // namespace estimator::testing

#endif  // ESTIMATOR_OPS_TESTING_GOLDEN_TABLE_H_
