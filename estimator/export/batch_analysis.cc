#include "estimator/export/batch_analysis.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr size_t kNumGraphs = 3;

// slope and intercept of three values at three sizes; nullopt where no line goes through them.
struct Line {
  int64_t slope = 0;
  int64_t intercept = 0;
};
std::optional<Line> LineThrough(const std::vector<int64_t>& values,
                                const std::vector<int64_t>& sizes) {
  const int64_t rise = values[1] - values[0], run = sizes[1] - sizes[0];
  if (rise % run != 0) return std::nullopt;
  const Line line = {rise / run, values[0] - rise / run * sizes[0]};
  if (line.slope * sizes[2] + line.intercept != values[2]) return std::nullopt;
  return line;
}

std::optional<std::vector<Line>> LinesThrough(const std::vector<std::vector<int64_t>>& values,
                                              const std::vector<int64_t>& sizes) {
  std::vector<Line> lines;
  for (size_t i = 0; i < values[0].size(); ++i) {
    const std::optional<Line> line = LineThrough({values[0][i], values[1][i], values[2][i]}, sizes);
    if (!line.has_value()) return std::nullopt;
    lines.push_back(*line);
  }
  return lines;
}

// The values of numbers that are whole: sizes, and counts of rows in a floating dtype.
std::optional<std::vector<int64_t>> Ints(const Array& array) {
  const DType dtype = array.dtype();
  const bool floating = dtype == DType::kFloat32 || dtype == DType::kFloat64;
  if (!floating && dtype != DType::kInt32 && dtype != DType::kInt64) return std::nullopt;
  std::vector<int64_t> ints;
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    const double value = array.AsDouble(i);
    // Beyond this a float32 has no ones.
    if (floating && (value != std::floor(value) || std::abs(value) > 1 << 24)) return std::nullopt;
    ints.push_back(static_cast<int64_t>(value));
  }
  return ints;
}

// One element of each line, as an array of `dtype`.
Array Parts(const std::vector<Line>& lines, int64_t Line::*part, DType dtype, const Shape& shape) {
  Array array(DType::kInt64, shape);
  for (size_t i = 0; i < lines.size(); ++i) array.data<int64_t>()[i] = lines[i].*part;
  return array.Cast(dtype);
}

// Whether all elements have the same bytes; strings never do.
bool IsUniform(const Array& array) {
  const size_t size = DTypeSize(array.dtype());
  if (size == 0 || array.num_elements() == 0) return false;
  const auto* bytes = static_cast<const char*>(array.raw());
  for (int64_t i = 1; i < array.num_elements(); ++i) {
    if (std::memcmp(bytes, bytes + static_cast<size_t>(i) * size, size) != 0) return false;
  }
  return true;
}

class Analyzer {
 public:
  explicit Analyzer(const std::vector<SizedGraph>& graphs) {
    for (const SizedGraph& sized : graphs) {
      sizes_.push_back(sized.batch_size);
      nodes_.push_back(NeededNodes(*sized.graph, sized.roots));
    }
    if (!SameRoots(graphs)) return;
    if (!SameStructure()) return;
    FindReshapes();
    FindBatchPlaceholder();
    for (size_t i = 0; i < nodes_[0].size(); ++i)
      CompareNode({nodes_[0][i], nodes_[1][i], nodes_[2][i]});
  }

  BatchAnalysis Take() { return std::move(analysis_); }

 private:
  using Nodes = std::vector<const Node*>;

  template <typename... Parts>
  void Obstacle(const Parts&... parts) {
    analysis_.obstacles.push_back(absl::StrCat(parts...));
  }

  // A node of the same name need not be the same: `add_1` of a loop that goes on to `add_2`.
  bool SameRoots(const std::vector<SizedGraph>& graphs) {
    const std::vector<Tensor>& first = graphs[0].roots;
    for (const SizedGraph& sized : graphs) {
      const size_t common = std::min(first.size(), sized.roots.size());
      for (size_t i = 0; i < common; ++i) {
        if (first[i].name() == sized.roots[i].name()) continue;
        Obstacle("the graph has other nodes at batch size ", sized.batch_size, " than at ",
                 sizes_[0], ": '", sized.roots[i].name(), "' for '", first[i].name(), "'");
        return false;
      }
      if (sized.roots.size() == first.size()) continue;
      Obstacle("the graph has more nodes at batch size ", sized.batch_size, " than at ", sizes_[0]);
      return false;
    }
    return true;
  }

  bool SameStructure() {
    for (size_t g = 1; g < kNumGraphs; ++g) {
      const size_t common = std::min(nodes_[0].size(), nodes_[g].size());
      for (size_t i = 0; i < common; ++i) {
        const Node &a = *nodes_[0][i], &b = *nodes_[g][i];
        if (a.name() != b.name() || a.op() != b.op() || a.num_inputs() != b.num_inputs() ||
            a.num_outputs() != b.num_outputs()) {
          Obstacle("the graph has other nodes at batch size ", sizes_[g], " than at ", sizes_[0],
                   ", from '", b.name(), "' (", b.op(), ") on, '", a.name(), "' (", a.op(), ")");
          return false;
        }
      }
      if (nodes_[g].size() != nodes_[0].size()) {
        Obstacle("the graph has ", nodes_[0].size(), " nodes at batch size ", sizes_[0], " and ",
                 nodes_[g].size(), " at ", sizes_[g]);
        return false;
      }
    }
    return true;
  }

  // Constants that nothing but Reshape takes as its shape.
  void FindReshapes() {
    std::set<const Node*> others;
    for (const Node* node : nodes_[0]) {
      for (int i = 0; i < node->num_inputs(); ++i) {
        const Node* input = node->input(i).node();
        (node->op() == "Reshape" && i == 1 ? reshape_shapes_ : others).insert(input);
      }
    }
    for (const Node* node : others) reshape_shapes_.erase(node);
  }

  void FindBatchPlaceholder() {
    for (size_t i = 0; i < nodes_[0].size(); ++i) {
      const Node& node = *nodes_[0][i];
      // Strings are what a request may carry in place of features: another may not feed them.
      if (node.op() != "Placeholder" || node.outputs()[0].dtype == DType::kString) continue;
      for (int axis = 0; axis < node.outputs()[0].shape.rank(); ++axis) {
        bool is_batch = true;
        for (size_t g = 0; g < kNumGraphs; ++g)
          is_batch &= nodes_[g][i]->outputs()[0].shape.dim(axis) == sizes_[g];
        if (!is_batch) continue;
        analysis_.batch_placeholder = node.name();
        analysis_.batch_axis = axis;
        return;
      }
    }
  }

  void CompareNode(const Nodes& nodes) {
    const Node& node = *nodes[0];
    bool shapes_differ = false;
    std::vector<Shape> shapes;
    for (size_t output = 0; output < node.outputs().size(); ++output) {
      Shape shape = node.outputs()[output].shape;
      for (const Node* other : nodes) {
        const Shape& there = other->outputs()[output].shape;
        if (there.rank() != shape.rank()) {
          Obstacle("'", node.name(), "' (", node.op(), ") changes its rank with the batch size");
          return;
        }
        for (int axis = 0; axis < shape.rank(); ++axis) {
          if (there.dim(axis) == shape.dim(axis)) continue;
          shapes_differ = true;
          shape.set_dim(axis, Shape::kUnknownDim);
        }
      }
      shapes.push_back(std::move(shape));
    }
    if (shapes_differ) analysis_.output_shapes[node.name()] = std::move(shapes);
    if (node.op() == "VariableV2" && shapes_differ) {
      Obstacle("variable '", node.name(), "' changes its shape with the batch size");
    } else if (node.op() == "Const") {
      CompareConstants(nodes);
    } else {
      CompareAttributes(nodes);
    }
  }

  void CompareAttributes(const Nodes& nodes) {
    const Node& node = *nodes[0];
    for (const auto& [name, value] : node.attrs().values()) {
      // The shape of a placeholder is that of its output.
      if (name == "shape" && (node.op() == "Placeholder" || node.op() == "EnsureShape")) continue;
      for (const Node* other : nodes) {
        const Attrs here = {{name, value}};
        if (other->attrs().has(name) && here == Attrs({{name, other->attrs().values().at(name)}}))
          continue;
        Obstacle("attribute ", name, " of '", node.name(), "' (", node.op(),
                 ") depends on the batch size: ", AttrToString(value), " at ", sizes_[0]);
        return;
      }
    }
  }

  void CompareConstants(const Nodes& nodes) {
    std::vector<Array> values;
    for (const Node* node : nodes) values.push_back(node->attrs().get<Array>("value"));
    const Node& node = *nodes[0];
    const auto equal = [&](size_t g) {
      return Attrs({{"v", values[0]}}) == Attrs({{"v", values[g]}});
    };
    if (equal(1) && equal(2)) return;
    std::optional<BatchConstant> constant;
    if (values[0].dtype() == values[1].dtype() && values[0].dtype() == values[2].dtype()) {
      const bool same_shape =
          values[0].shape() == values[1].shape() && values[0].shape() == values[2].shape();
      constant = same_shape ? Affine(node, values) : Filled(values);
    }
    if (!constant.has_value()) {
      Obstacle("constant '", node.name(), "' (", values[0].TypeString(),
               ") holds values that depend on the batch size");
      return;
    }
    if (constant->kind != BatchConstant::Kind::kReshape && analysis_.batch_placeholder.empty()) {
      Obstacle("constant '", node.name(), "' depends on the batch size, and no placeholder has it");
      return;
    }
    analysis_.constants[node.name()] = *std::move(constant);
  }

  std::optional<BatchConstant> Affine(const Node& node, const std::vector<Array>& values) const {
    const DType dtype = values[0].dtype();
    std::vector<std::vector<int64_t>> ints;
    for (const Array& value : values) {
      std::optional<std::vector<int64_t>> whole = Ints(value);
      if (!whole.has_value()) return std::nullopt;
      ints.push_back(*std::move(whole));
    }
    const auto lines = LinesThrough(ints, sizes_);
    if (!lines.has_value()) return std::nullopt;
    BatchConstant constant;
    int64_t varying = 0, others_positive = 1;
    for (size_t i = 0; i < lines->size(); ++i) {
      if ((*lines)[i].slope != 0) {
        ++varying;
        constant.index = static_cast<int64_t>(i);
      } else if ((*lines)[i].intercept <= 0) {
        others_positive = 0;  // another -1, or an empty tensor
      }
    }
    if (varying == 1 && others_positive != 0 && reshape_shapes_.count(&node) > 0) {
      constant.kind = BatchConstant::Kind::kReshape;
      return constant;
    }
    constant.kind = BatchConstant::Kind::kAffine;
    constant.slope = Parts(*lines, &Line::slope, dtype, values[0].shape());
    constant.intercept = Parts(*lines, &Line::intercept, dtype, values[0].shape());
    return constant;
  }

  std::optional<BatchConstant> Filled(const std::vector<Array>& values) const {
    const int rank = values[0].shape().rank();
    for (const Array& value : values) {
      if (!IsUniform(value) || value.shape().rank() != rank) return std::nullopt;
      if (std::memcmp(value.raw(), values[0].raw(), DTypeSize(value.dtype())) != 0)
        return std::nullopt;
    }
    const auto lines = LinesThrough(
        {values[0].shape().dims(), values[1].shape().dims(), values[2].shape().dims()}, sizes_);
    if (!lines.has_value()) return std::nullopt;
    BatchConstant constant;
    constant.kind = BatchConstant::Kind::kFill;
    constant.slope = Parts(*lines, &Line::slope, DType::kInt32, {rank});
    constant.intercept = Parts(*lines, &Line::intercept, DType::kInt32, {rank});
    constant.value = values[0].Reshaped({values[0].num_elements()}).Row(0).Clone();
    return constant;
  }

  BatchAnalysis analysis_;
  std::vector<int64_t> sizes_;
  std::vector<Nodes> nodes_;
  std::set<const Node*> reshape_shapes_;
};

}  // namespace

Shape BatchAnalysis::ShapeOf(const Tensor& tensor) const {
  const auto found = output_shapes.find(tensor.node()->name());
  return found == output_shapes.end() ? tensor.shape()
                                      : found->second[static_cast<size_t>(tensor.output())];
}

std::vector<const Node*> NeededNodes(const Graph& graph, const std::vector<Tensor>& roots) {
  std::vector<bool> needed(graph.nodes().size(), false);
  std::vector<const Node*> pending, nodes;
  for (const Tensor& root : roots) pending.push_back(root.node());
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (needed[static_cast<size_t>(node->id())]) continue;
    needed[static_cast<size_t>(node->id())] = true;
    for (const Tensor& input : node->inputs()) pending.push_back(input.node());
    for (const Operation& control : node->control_inputs()) pending.push_back(control.node());
  }
  for (const auto& node : graph.nodes()) {
    if (needed[static_cast<size_t>(node->id())]) nodes.push_back(node.get());
  }
  return nodes;
}

BatchAnalysis AnalyzeBatch(const std::vector<SizedGraph>& graphs) {
  CHECK_EQ(graphs.size(), kNumGraphs);
  return Analyzer(graphs).Take();
}

}  // namespace estimator
