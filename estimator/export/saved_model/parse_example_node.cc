#include "estimator/export/saved_model/parse_example_node.h"

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/data/pipeline/padding_value.h"
#include "estimator/graph/node.h"
#include "estimator/graphdef/graph_def_builder.h"
#include "estimator/graphdef/parsed_feature.h"

namespace estimator {
namespace {

class ParseExampleNode {
 public:
  ParseExampleNode(const ExampleParsing& parsing, proto::GraphDef* graph)
      : parsing_(parsing), builder_(graph) {
    for (proto::NodeDef& node : *graph->mutable_node()) nodes_[node.name()] = &node;
    scope_ = builder_.UniqueScope("ParseExample/ParseExampleV2");
    serialized_ = parsing.serialized.node()->name();
  }

  void Write() {
    std::vector<std::string> defaults;
    std::vector<std::pair<std::string, int>> dense, sparse;  // features, and their numbers
    std::vector<std::string> dense_keys, sparse_keys;
    std::vector<DType> dense_types, sparse_types;
    std::vector<Shape> dense_shapes;
    const auto add_dense = [&](const std::string& key, const Array& value, const Shape& shape) {
      const int number = static_cast<int>(dense_keys.size());
      defaults.push_back(builder_.AddConst(absl::StrCat(scope_, "/default_", number), value));
      dense.emplace_back(key, number);
      dense_keys.push_back(key);
      dense_types.push_back(value.dtype());
      dense_shapes.push_back(shape);
    };
    for (const auto& [key, spec] : parsing_.specs) {
      if (const auto* fixed = std::get_if<FixedLenFeature>(&spec)) {
        // In ParseExampleV2, an empty default means that the feature is required.
        add_dense(key,
                  fixed->default_value.has_value() ? fixed->default_value->Reshaped(fixed->shape)
                                                   : Array(fixed->dtype, {0}),
                  fixed->shape);
      } else if (const auto* rows = std::get_if<FixedLenSequenceFeature>(&spec)) {
        std::vector<int64_t> dims = {Shape::kUnknownDim};
        dims.insert(dims.end(), rows->shape.dims().begin(), rows->shape.dims().end());
        add_dense(key, *PaddingValue(rows->default_value, rows->dtype), Shape(std::move(dims)));
      } else {
        sparse.emplace_back(key, static_cast<int>(sparse_keys.size()));
        sparse_keys.push_back(key);
        sparse_types.push_back(std::get<VarLenFeature>(spec).dtype);
      }
    }
    const int num_sparse = static_cast<int>(sparse_keys.size());
    for (const auto& [key, number] : dense) WriteDense(key, Output(3 * num_sparse + number));
    for (const auto& [key, number] : sparse)
      WriteSparse(key, Output(number), Output(num_sparse + number));

    std::vector<std::string> inputs = {
        serialized_, Strings("names", {}), Strings("sparse_keys", sparse_keys),
        Strings("dense_keys", dense_keys), Strings("ragged_keys", {})};
    inputs.insert(inputs.end(), defaults.begin(), defaults.end());
    builder_.Add(scope_, "ParseExampleV2", inputs)
        .Types("Tdense", dense_types)
        .Int("num_sparse", num_sparse)
        .Types("sparse_types", sparse_types)
        .Types("ragged_value_types", {})
        .Types("ragged_split_types", {})
        .Shapes("dense_shapes", dense_shapes);
  }

 private:
  std::string Output(int number) const {
    return number == 0 ? scope_ : absl::StrCat(scope_, ":", number);
  }
  std::string Strings(const char* name, const std::vector<std::string>& values) {
    return builder_.AddConst(absl::StrCat(scope_, "/", name), Array::Strings(values));
  }
  std::string Int(const std::string& name, int64_t value) {
    return builder_.AddConst(name, Array::Scalar(value));
  }

  // The node of a result of the parsing; null if the model does not use it.
  proto::NodeDef* NodeOf(const std::string& result) const {
    const auto node = nodes_.find(parsing_.parsed.at(result).node()->name());
    return node == nodes_.end() ? nullptr : node->second;
  }

  // Makes an Identity of `input` of the placeholder. `length` tells which of the two results of a
  // VarLenFeature it is.
  void Replace(const std::string& key, bool length, const std::string& input) {
    const std::string result = length ? LengthName(key) : key;
    proto::NodeDef* const node = NodeOf(result);
    const proto::AttrValue output_shapes = node->attr().at("_output_shapes");
    ReplaceNode(node, "Identity", {input}, {{"T", parsing_.parsed.at(result).dtype()}});
    (*node->mutable_attr())["_output_shapes"] = output_shapes;
    const FeatureSpec& spec = parsing_.specs.at(key);
    if (!std::holds_alternative<FixedLenFeature>(spec))
      WriteParsedFeature({serialized_, key, spec, length}, node);
  }

  void WriteDense(const std::string& key, const std::string& output) {
    if (NodeOf(key) == nullptr) return;
    const auto* rows = std::get_if<FixedLenSequenceFeature>(&parsing_.specs.at(key));
    Replace(key, /*length=*/false, rows == nullptr ? output : Padded(key, *rows, output));
  }

  // A scope for the nodes of a feature.
  std::string ScopeOf(const std::string& key) {
    const std::string& placeholder = parsing_.parsed.at(key).node()->name();
    return builder_.UniqueScope(
        absl::StrCat(scope_, "/", absl::StripPrefix(placeholder, "ParseExample/")));
  }

  // Adds a node to a scope. Returns its name.
  std::string Add(const std::string& scope, const char* name, const char* op,
                  const std::vector<std::string>& inputs, const DTypeAttrs& types) {
    return builder_.Add(absl::StrCat(scope, "/", name), op, inputs, types).name();
  }
  // Adds a vector of int64 scalars.
  std::string Pack(const std::string& scope, const char* name,
                   const std::vector<std::string>& inputs) {
    return builder_.Add(absl::StrCat(scope, "/", name), "Pack", inputs, {{"T", DType::kInt64}})
        .Int("N", static_cast<int64_t>(inputs.size()))
        .Int("axis", 0)
        .name();
  }

  // Pads axis 1 of `input` to max_length.
  std::string Padded(const std::string& key, const FixedLenSequenceFeature& rows,
                     const std::string& input) {
    constexpr DType kInt64 = DType::kInt64;
    const std::string scope = ScopeOf(key);
    const std::string length = SizeOfAxis(absl::StrCat(scope, "/size"), input, rows.dtype, 1);
    const std::string max_length = Int(absl::StrCat(scope, "/max_length"), rows.max_length);
    const std::string missing = Add(scope, "missing", "Sub", {max_length, length}, {{"T", kInt64}});
    const int rank = 2 + rows.shape.rank();
    const std::string zero = Int(absl::StrCat(scope, "/zero"), 0);
    std::vector<std::string> sizes(static_cast<size_t>(2 * rank), zero);
    sizes[3] = missing;  // after the last element of axis 1
    const std::string flat = Pack(scope, "sizes", sizes);
    const std::string shape = builder_.AddConst(absl::StrCat(scope, "/paddings_shape"),
                                                Array::Of<int64_t>({2}, {rank, 2}));
    const std::string paddings =
        Add(scope, "paddings", "Reshape", {flat, shape}, {{"T", kInt64}, {"Tshape", kInt64}});
    const std::string value = builder_.AddConst(absl::StrCat(scope, "/default"),
                                                *PaddingValue(rows.default_value, rows.dtype));
    return Add(scope, "padded", "PadV2", {input, paddings, value},
               {{"T", rows.dtype}, {"Tpaddings", kInt64}});
  }

  void WriteSparse(const std::string& key, const std::string& indices, const std::string& values) {
    constexpr DType kInt64 = DType::kInt64;
    const auto& spec = std::get<VarLenFeature>(parsing_.specs.at(key));
    const bool has_values = NodeOf(key) != nullptr, has_length = NodeOf(LengthName(key)) != nullptr;
    if (!has_values && !has_length) return;
    const std::string scope = ScopeOf(key);
    const std::string rows =
        SizeOfAxis(absl::StrCat(scope, "/rows"), serialized_, DType::kString, 0);
    if (has_values) {
      const std::string max_length = Int(absl::StrCat(scope, "/max_length"), spec.max_length);
      const std::string shape = Pack(scope, "shape", {rows, max_length});
      const std::string value = builder_.AddConst(absl::StrCat(scope, "/default"),
                                                  *PaddingValue(spec.default_value, spec.dtype));
      Replace(key, /*length=*/false,
              Add(scope, "dense", "SparseToDense", {indices, shape, values, value},
                  {{"T", spec.dtype}, {"Tindices", kInt64}}));
    }
    if (has_length) {
      const std::string row_of_value =
          builder_.AddSlice(absl::StrCat(scope, "/row_of_value"), indices, kInt64,
                            Array::Of<int64_t>({2}, {0, 0}), Array::Of<int64_t>({2}, {0, 1}),
                            /*whole=*/1, /*shrink=*/2);
      const std::string ones = Add(scope, "ones", "OnesLike", {row_of_value}, {{"T", kInt64}});
      const std::string lengths =
          Add(scope, "lengths", "UnsortedSegmentSum", {ones, row_of_value, rows},
              {{"T", kInt64}, {"Tindices", kInt64}, {"Tnumsegments", kInt64}});
      Replace(key, /*length=*/true,
              Add(scope, "lengths_i32", "Cast", {lengths},
                  {{"SrcT", kInt64}, {"DstT", DType::kInt32}}));
    }
  }

  // int64 []: the size of one axis of `input`.
  std::string SizeOfAxis(const std::string& name, const std::string& input, DType dtype, int axis) {
    const std::string shape =
        Add(name, "shape", "Shape", {input}, {{"T", dtype}, {"out_type", DType::kInt64}});
    const auto bound = [](int64_t value) { return Array::Of<int64_t>({1}, {value}); };
    return builder_.AddSlice(name, shape, DType::kInt64, bound(axis), bound(axis + 1), /*whole=*/0,
                             /*shrink=*/1);
  }

  const ExampleParsing& parsing_;
  std::map<std::string, proto::NodeDef*> nodes_;
  GraphDefBuilder builder_;
  std::string scope_, serialized_;
};

}  // namespace

void WriteParseExample(const ExampleParsing& parsing, proto::GraphDef* graph) {
  ParseExampleNode(parsing, graph).Write();
}

}  // namespace estimator
