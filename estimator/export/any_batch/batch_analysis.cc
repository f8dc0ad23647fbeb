#include "estimator/export/any_batch/batch_analysis.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/export/any_batch/uniform_array.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graph/function.h"
#include "estimator/graph/needed_nodes.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr size_t kNumGraphs = 3;

// value = (slope * size + intercept) / divisor, with divisor > 0, in lowest terms.
struct Line {
  int64_t slope = 0;
  int64_t intercept = 0;
  int64_t divisor = 1;
};
// Numbers above this are keys and hashes, not sizes. Numbers below it can be multiplied by batch
// sizes without overflow.
constexpr int64_t kMaxVarying = int64_t{1} << 40;

// Returns the line through the values at three sizes, or nullopt if they are not on a line.
std::optional<Line> LineThrough(const std::vector<int64_t>& values,
                                const std::vector<int64_t>& sizes) {
  if (values[0] == values[1] && values[0] == values[2]) return Line{.intercept = values[0]};
  for (const int64_t value : values) {
    if (std::abs(value) > kMaxVarying) return std::nullopt;
  }
  const int64_t rise = values[1] - values[0], run = sizes[1] - sizes[0];
  // Products are compared, because quotients would be rounded.
  if (rise * (sizes[2] - sizes[0]) != (values[2] - values[0]) * run) return std::nullopt;
  const int64_t common = std::gcd(rise, run) * (run < 0 ? -1 : 1);
  const int64_t slope = rise / common, divisor = run / common;
  return Line{slope, values[0] * divisor - slope * sizes[0], divisor};
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

// Returns the elements as integers, or nullopt if one is not an integer. Numbers of a floating
// dtype may be counts of rows.
std::optional<std::vector<int64_t>> Ints(const Array& array) {
  const DType dtype = array.dtype();
  const bool floating = dtype == DType::kFloat32 || dtype == DType::kFloat64;
  if (!floating && dtype != DType::kInt32 && dtype != DType::kInt64) return std::nullopt;
  std::vector<int64_t> ints;
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    const double value = array.AsDouble(i);
    // Above 2^24 a float32 does not represent all integers.
    if (floating && (value != std::floor(value) || std::abs(value) > 1 << 24)) return std::nullopt;
    ints.push_back(static_cast<int64_t>(value));
  }
  return ints;
}

// The slopes and intercepts of the lines as arrays of `dtype`, or nullopt if one has a divisor.
std::optional<BatchConstant> Whole(BatchConstant::Kind kind, const std::vector<Line>& lines,
                                   DType dtype, const Shape& shape) {
  Array slopes(DType::kInt64, shape), intercepts(DType::kInt64, shape);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].divisor != 1) return std::nullopt;
    slopes.data<int64_t>()[i] = lines[i].slope;
    intercepts.data<int64_t>()[i] = lines[i].intercept;
  }
  return BatchConstant{
      .kind = kind, .slope = slopes.Cast(dtype), .intercept = intercepts.Cast(dtype)};
}

class Analyzer {
 public:
  explicit Analyzer(const std::vector<SizedGraph>& graphs) {
    for (const SizedGraph& sized : graphs) {
      sizes_.push_back(sized.batch_size);
      std::vector<Tensor> roots;
      for (const BatchRoot& root : sized.roots) roots.push_back(root.tensor);
      nodes_.push_back(NeededNodes(*sized.graph, roots));
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

  // Whether all graphs have the same roots. Equal names of nodes are not enough: if a loop over
  // rows adds `add_2` at a larger size, the root moves from `add_1` to `add_2`.
  bool SameRoots(const std::vector<SizedGraph>& graphs) {
    const std::vector<BatchRoot>& first = graphs[0].roots;
    for (const SizedGraph& sized : graphs) {
      const size_t common = std::min(first.size(), sized.roots.size());
      for (size_t i = 0; i < common; ++i) {
        const BatchRoot &a = first[i], &b = sized.roots[i];
        if (a.what != b.what) {
          Obstacle("the model has ", b.what, " at batch size ", sized.batch_size, " and ", a.what,
                   " at ", sizes_[0]);
          return false;
        }
        if (a.tensor.name() == b.tensor.name()) continue;
        Obstacle("the graph has other nodes at batch size ", sized.batch_size, " than at ",
                 sizes_[0], ": '", b.tensor.name(), "' for '", a.tensor.name(), "' as ", a.what);
        return false;
      }
      if (sized.roots.size() == first.size()) continue;
      const bool more = sized.roots.size() > first.size();
      Obstacle("the model has ", (more ? sized.roots : first)[common].what, " only at batch size ",
               more ? sized.batch_size : sizes_[0], ", not at ",
               more ? sizes_[0] : sized.batch_size);
      return false;
    }
    return true;
  }

  bool SameStructure() {
    for (size_t g = 1; g < kNumGraphs; ++g) {
      const size_t common = std::min(nodes_[0].size(), nodes_[g].size());
      for (size_t i = 0; i < common; ++i) {
        if (!SameNode(*nodes_[0][i], *nodes_[g][i], sizes_[g])) return false;
      }
      if (nodes_[g].size() != nodes_[0].size()) {
        Obstacle("the graph has ", nodes_[0].size(), " nodes at batch size ", sizes_[0], " and ",
                 nodes_[g].size(), " at ", sizes_[g]);
        return false;
      }
    }
    return true;
  }

  // Compares op, inputs, control inputs and dtypes of two nodes. Shapes and attributes are compared
  // later.
  bool SameNode(const Node& a, const Node& b, int64_t size) {
    const auto dtypes = [](const Node& node) {
      std::vector<DType> dtypes;
      for (const TensorSpec& output : node.outputs()) dtypes.push_back(output.dtype);
      return dtypes;
    };
    if (a.name() != b.name() || a.op() != b.op() || a.num_inputs() != b.num_inputs() ||
        a.control_inputs().size() != b.control_inputs().size() || dtypes(a) != dtypes(b)) {
      Obstacle("the graph has other nodes at batch size ", size, " than at ", sizes_[0],
               "; the first is '", b.name(), "' (", b.op(), ") instead of '", a.name(), "' (",
               a.op(), ")");
      return false;
    }
    const auto same_input = [&](const std::string& here, const std::string& there) {
      if (here == there) return true;
      Obstacle("'", a.name(), "' (", a.op(), ") takes '", there, "' at batch size ", size, " and '",
               here, "' at ", sizes_[0]);
      return false;
    };
    for (int i = 0; i < a.num_inputs(); ++i) {
      if (!same_input(a.input(i).name(), b.input(i).name())) return false;
    }
    for (size_t i = 0; i < a.control_inputs().size(); ++i) {
      if (!same_input(a.control_inputs()[i].name(), b.control_inputs()[i].name())) return false;
    }
    return true;
  }

  // Finds constants that are used only as the shape of a Reshape.
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
      // A string placeholder may be serialized Examples, which a request may replace by features.
      // It is then not fed, and its batch size is unknown.
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
    } else if (node.op() == "Placeholder" && shapes_differ) {
      ComparePlaceholders(nodes);
    } else if (node.op() == "Const") {
      CompareConstants(nodes);
    } else {
      CompareAttributes(nodes);
    }
    if (!node.functions().empty()) CompareFunctions(nodes);
  }

  // Bodies of loops and branches may differ in shapes only: their nodes cannot read the batch size.
  void CompareFunctions(const Nodes& owners) {
    for (size_t f = 0; f < owners[0]->functions().size(); ++f) {
      if (owners[0]->functions()[f] == nullptr) continue;
      std::vector<Nodes> bodies;
      for (const Node* owner : owners) {
        const Function& function = *owner->functions()[f];
        bodies.push_back(NeededNodes(function.graph(), function.results()));
      }
      for (size_t g = 1; g < kNumGraphs; ++g) {
        if (bodies[g].size() != bodies[0].size()) {
          Obstacle("'", owners[0]->name(), "' (", owners[0]->op(),
                   ") runs other nodes at other batch sizes");
          return;
        }
        for (size_t i = 0; i < bodies[0].size(); ++i)
          if (!SameNode(*bodies[0][i], *bodies[g][i], sizes_[g])) return;
      }
      for (size_t i = 0; i < bodies[0].size(); ++i)
        CompareInside(*owners[0], {bodies[0][i], bodies[1][i], bodies[2][i]});
    }
  }

  void CompareInside(const Node& owner, const Nodes& nodes) {
    const Node& node = *nodes[0];
    const bool nested = !node.functions().empty();
    for (const Node* other : nodes) {
      if (node.op() == "Const" &&
          !SameBits(node.attrs().get<Array>("value"), other->attrs().get<Array>("value"))) {
        Obstacle("constant '", node.name(), "' inside of '", owner.name(), "' (", owner.op(),
                 ") depends on the batch size; make it outside, or give the size as -1");
        return;
      }
      if (nested && !(node.outputs() == other->outputs())) {
        Obstacle("'", node.name(), "' (", node.op(), ") inside of '", owner.name(),
                 "' has shapes that depend on the batch size");
        return;
      }
    }
    if (node.op() != "Const") CompareAttributes(nodes);
    if (nested) CompareFunctions(nodes);
  }

  // Whether a loop has a row of its stacked results for each trip. Their number is then computed
  // (graphdef/functional_nodes.h).
  static bool StacksEachTrip(const Node& node) {
    const std::optional<Array> trips = ConstantValue(node.input(0));
    return trips.has_value() &&
           trips->AsDouble() == static_cast<double>(node.attrs().i("capacity"));
  }

  void ComparePlaceholders(const Nodes& nodes) {
    std::vector<std::vector<int64_t>> dims;
    for (const Node* node : nodes) dims.push_back(node->outputs()[0].shape.dims());
    std::optional<BatchConstant> shape;
    if (const auto lines = LinesThrough(dims, sizes_); lines.has_value())
      shape = Whole(BatchConstant::Kind::kAffine, *lines, DType::kInt64,
                    {static_cast<int64_t>(dims[0].size())});
    if (shape.has_value()) {
      analysis_.placeholders[nodes[0]->name()] = *std::move(shape);
    } else {
      Obstacle("the shape of placeholder '", nodes[0]->name(),
               "' is not a multiple of the batch size");
    }
  }

  void CompareAttributes(const Nodes& nodes) {
    const Node& node = *nodes[0];
    for (const Node* other : nodes) {
      if (other->attrs().values().size() == node.attrs().values().size()) continue;
      Obstacle("'", node.name(), "' (", node.op(), ") has other attributes at other batch sizes");
      return;
    }
    for (const auto& [name, value] : node.attrs().values()) {
      // The shape attribute of these is their output's shape, which is compared as a shape.
      if (name == "shape" && (node.op() == "Placeholder" || node.op() == "EnsureShape")) continue;
      if (name == "capacity" && node.op() == "While" &&
          std::all_of(nodes.begin(), nodes.end(),
                      [](const Node* other) { return StacksEachTrip(*other); }))
        continue;
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
    if (SameBits(values[0], values[1]) && SameBits(values[0], values[2])) return;
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
    // A Reshape finds its -1 itself. The other kinds read the batch size from a placeholder.
    if (constant->kind != BatchConstant::Kind::kReshape && analysis_.batch_placeholder.empty()) {
      Obstacle("constant '", node.name(),
               "' depends on the batch size, but no placeholder has a dimension of that size");
      return;
    }
    analysis_.constants[node.name()] = *std::move(constant);
  }

  std::optional<BatchConstant> Affine(const Node& node, const std::vector<Array>& values) const {
    std::vector<std::vector<int64_t>> ints;
    for (const Array& value : values) {
      std::optional<std::vector<int64_t>> whole = Ints(value);
      if (!whole.has_value()) return std::nullopt;
      ints.push_back(*std::move(whole));
    }
    const auto lines = LinesThrough(ints, sizes_);
    if (!lines.has_value()) return std::nullopt;
    int64_t index = 0, varying = 0;
    bool others_positive = true;
    for (size_t i = 0; i < lines->size(); ++i) {
      if ((*lines)[i].slope != 0) {
        ++varying;
        index = static_cast<int64_t>(i);
      } else if ((*lines)[i].intercept <= 0) {
        others_positive = false;  // a second -1, or an empty tensor, for which -1 is ambiguous
      }
    }
    // A -1 needs no further node, and it can also stand for a size with a divisor.
    if (varying == 1 && others_positive && reshape_shapes_.count(&node) > 0) {
      const Line& line = (*lines)[static_cast<size_t>(index)];
      return BatchConstant{.kind = BatchConstant::Kind::kReshape,
                           .index = index,
                           .divisor = line.divisor,
                           .slope = Array::Scalar(line.slope),
                           .intercept = Array::Scalar(line.intercept)};
    }
    return Whole(BatchConstant::Kind::kAffine, *lines, values[0].dtype(), values[0].shape());
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
    auto constant = Whole(BatchConstant::Kind::kFill, *lines, DType::kInt32, {rank});
    if (constant.has_value()) constant->value = FirstElement(values[0]).Clone();
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

BatchAnalysis AnalyzeBatch(const std::vector<SizedGraph>& graphs) {
  CHECK_EQ(graphs.size(), kNumGraphs);
  return Analyzer(graphs).Take();
}

}  // namespace estimator
