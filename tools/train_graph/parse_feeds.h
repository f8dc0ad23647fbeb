// The flag --feed of train_graph.
#ifndef TOOLS_TRAIN_GRAPH_PARSE_FEEDS_H_
#define TOOLS_TRAIN_GRAPH_PARSE_FEEDS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"

namespace estimator {

// Parses --feed: TENSOR=VALUE,TENSOR=VALUE, where VALUE is a number, true, false or a .npy file.
// Errors: a UsageError for a malformed pair, a tensor that occurs twice, or a file that cannot be
// read.
absl::StatusOr<std::map<std::string, Array>> ParseFeeds(StringArg text);

}  // namespace estimator

#endif  // TOOLS_TRAIN_GRAPH_PARSE_FEEDS_H_
