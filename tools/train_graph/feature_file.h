// A feature file says how the Examples of TFRecord files are parsed. It has one feature a line, in
// the order of the iterator's outputs:
//
//   # name        type       shape     default
//   image/raw     raw:uint8  [28,28]
//   label         int64      []
//   weight        float32    []        default=1
//   words         int64      var[128]  default=0
//
//   name     of the feature in the Example, without spaces
//   type     float32, int64 or string, as Examples store them; int32, converted from int64;
//            raw:T: the bytes of one string are little-endian numbers of type T
//   shape    of one example: [] is a scalar. var[N]: up to N values, padded to [N]
//   default  what a missing feature has: one value, or one for each element, separated by commas.
//            For var[N] it is the padding value. Without a default a feature must be there; var[N]
//            is padded with 0.
// Empty lines and lines that begin with # are skipped.
#ifndef TOOLS_TRAIN_GRAPH_FEATURE_FILE_H_
#define TOOLS_TRAIN_GRAPH_FEATURE_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/dtype.h"
#include "estimator/array/shape.h"
#include "estimator/base/string_arg.h"
#include "estimator/data/parsing/feature_spec.h"

namespace estimator {

struct FileFeature {
  std::string name;
  FeatureSpec spec;
  // What the graph gets for one example.
  DType dtype = DType::kInvalid;
  Shape shape = {};
  bool raw = false;  // `spec` is a string, whose bytes are the numbers
};

// Parses the text of a feature file.
//   path: of the file, for messages.
// Errors: INVALID_ARGUMENT with all lines that are wrong: the line, what is wrong, what to write.
absl::StatusOr<std::vector<FileFeature>> ParseFeatureFile(StringArg text, StringArg path);

}  // namespace estimator

#endif  // TOOLS_TRAIN_GRAPH_FEATURE_FILE_H_
