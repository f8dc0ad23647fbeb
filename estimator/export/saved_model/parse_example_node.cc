#include "estimator/export/saved_model/parse_example_node.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/graph/node.h"
#include "estimator/graphdef/graph_def_builder.h"

namespace estimator {

void WriteParseExample(const ExampleParsing& parsing, proto::GraphDef* graph) {
  std::map<std::string, proto::NodeDef*> nodes;
  for (proto::NodeDef& node : *graph->mutable_node()) nodes[node.name()] = &node;
  GraphDefBuilder builder(graph);
  const std::string scope = absl::StrCat(builder.UniqueScope("ParseExample/ParseExampleV2"));
  const auto strings = [&](const char* name, const std::vector<std::string>& values) {
    return builder.AddConst(
        absl::StrCat(scope, "/", name),
        Array::FromSpan<std::string>({static_cast<int64_t>(values.size())}, values));
  };
  std::vector<std::string> keys, defaults;
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  for (const auto& [key, placeholder] : parsing.parsed) {
    const auto& feature = std::get<FixedLenFeature>(parsing.specs.at(key));
    // In ParseExampleV2, an empty default means that the feature is required.
    defaults.push_back(builder.AddConst(absl::StrCat(scope, "/default_", keys.size()),
                                        feature.default_value.has_value()
                                            ? feature.default_value->Reshaped(feature.shape)
                                            : Array(feature.dtype, {0})));
    keys.push_back(key);
    dtypes.push_back(feature.dtype);
    shapes.push_back(feature.shape);
    const auto node = nodes.find(placeholder.node()->name());
    if (node == nodes.end()) continue;  // the model does not use it
    const proto::AttrValue output_shapes = node->second->attr().at("_output_shapes");
    const std::string output = absl::StrCat(scope, ":", keys.size() - 1);
    ReplaceNode(node->second, "Identity", {keys.size() == 1 ? scope : output})
        .Type("T", feature.dtype);
    (*node->second->mutable_attr())["_output_shapes"] = output_shapes;
  }
  std::vector<std::string> inputs = {parsing.serialized.node()->name(), strings("names", {}),
                                     strings("sparse_keys", {}), strings("dense_keys", keys),
                                     strings("ragged_keys", {})};
  inputs.insert(inputs.end(), defaults.begin(), defaults.end());
  builder.Add(scope, "ParseExampleV2", inputs)
      .Types("Tdense", dtypes)
      .Int("num_sparse", 0)
      .Types("sparse_types", {})
      .Types("ragged_value_types", {})
      .Types("ragged_split_types", {})
      .Shapes("dense_shapes", shapes);
}

}  // namespace estimator
