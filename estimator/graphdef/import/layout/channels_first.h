// Nodes whose images are [N,C,H,W] (data_format NCHW). Our ops take [N,H,W,C], so such a node gets
// transposes around its op. runtime/passes/sink_transposes.h cancels those between two nodes.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_LAYOUT_CHANNELS_FIRST_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_LAYOUT_CHANNELS_FIRST_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/attrs.h"
#include "estimator/graphdef/import/op_rules.h"

namespace estimator {

// Whether the value of data_format is NCHW.
bool IsChannelsFirst(const AttrValue& data_format);

// Gives the node's op images [N,H,W,C], if those of the node are [N,C,H,W]: transposes inputs, and
// permutes strides, windows and paddings. Returns the outputs that are images then, which
// ToChannelsFirst transposes back; none for other nodes.
//   op: TensorFlow's name. `rule` is its rule.
absl::StatusOr<std::vector<int>> ToChannelsLast(absl::string_view op, const ImportRule& rule,
                                                ImportNode& node);
void ToChannelsFirst(const std::vector<int>& images, std::vector<Tensor>& outputs);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_LAYOUT_CHANNELS_FIRST_H_
