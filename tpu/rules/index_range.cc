#include "tpu/rules/index_range.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "estimator/array/dtype.h"
#include "estimator/graph/constant_value.h"

namespace estimator::tpu {
namespace {

struct IndexRange {
  int64_t low = 0;
  int64_t high = 0;
};
using MaybeRange = std::optional<IndexRange>;

// Sums and products of ranges within it do not overflow.
constexpr int64_t kLargest = int64_t{1} << 31;

class RangeFinder {
 public:
  using Sources = std::function<Tensors(const Node& placeholder)>;
  explicit RangeFinder(const Sources& sources) : sources_(sources) {}

  MaybeRange Of(const Tensor& tensor) {
    const auto [found, is_new] = ranges_.try_emplace(tensor, std::nullopt);
    if (!is_new) return found->second;
    MaybeRange range = IsInteger(tensor.dtype()) ? Compute(tensor) : std::nullopt;
    if (range && (range->low < -kLargest || range->high > kLargest)) range = std::nullopt;
    return ranges_[tensor] = range;
  }

 private:
  static MaybeRange OfConstant(const Tensor& tensor) {
    const std::optional<Array> value = ConstantValue(tensor);
    if (!value || value->num_elements() == 0) return std::nullopt;
    IndexRange range = {kLargest, -kLargest};
    for (int64_t i = 0; i < value->num_elements(); ++i) {
      range.low = std::min(range.low, static_cast<int64_t>(value->AsDouble(i)));
      range.high = std::max(range.high, static_cast<int64_t>(value->AsDouble(i)));
    }
    return range;
  }

  MaybeRange Compute(const Tensor& tensor) {
    if (const MaybeRange constant = OfConstant(tensor)) return constant;
    const Node& node = *tensor.node();
    const std::string op(node.op());
    if (op == "TopKV2" && tensor.output() == 1) return IndexRange{0, node.input(0).dim(-1) - 1};
    if (op == "ArgMax" || op == "ArgMin") {
      const MaybeRange axis = OfConstant(node.input(1));
      if (!axis) return std::nullopt;
      return IndexRange{0, node.input(0).dim(static_cast<int>(axis->low)) - 1};
    }
    static const char* const kMoves[] = {"Reshape",  "ExpandDims", "Squeeze",      "Identity",
                                         "Slice",    "Transpose",  "StopGradient", "StridedSlice",
                                         "GatherV2", "GatherNd",   "BroadcastTo",  "Tile",
                                         "Cast"};
    if (std::find(std::begin(kMoves), std::end(kMoves), op) != std::end(kMoves))
      return Of(node.input(0));
    const Tensors& inputs = node.inputs();
    if (op == "Placeholder") return Union(sources_(node));
    if (op == "Pack") return Union(inputs);
    if (op == "ConcatV2") return Union({inputs.begin(), inputs.end() - 1});  // the last is the axis
    if (op == "SelectV2") return Union({inputs.begin() + 1, inputs.end()});
    if (node.num_inputs() != 2) return std::nullopt;
    return Binary(op, Of(node.input(0)), Of(node.input(1)));
  }

  MaybeRange Union(const Tensors& tensors) {
    MaybeRange all;
    for (const Tensor& tensor : tensors) {
      const MaybeRange one = Of(tensor);
      if (!one) return std::nullopt;
      all = all ? IndexRange{std::min(all->low, one->low), std::max(all->high, one->high)} : *one;
    }
    return all;
  }

  static MaybeRange Binary(const std::string& op, const MaybeRange& x, const MaybeRange& y) {
    // One side limits the other, even if that may be any number.
    if (op == "FloorMod" && y && y->low > 0) return IndexRange{0, y->high - 1};
    if (!x || !y) return std::nullopt;
    if (op == "AddV2") return IndexRange{x->low + y->low, x->high + y->high};
    if (op == "Sub") return IndexRange{x->low - y->high, x->high - y->low};
    if (op == "Minimum") return IndexRange{std::min(x->low, y->low), std::min(x->high, y->high)};
    if (op == "Maximum") return IndexRange{std::max(x->low, y->low), std::max(x->high, y->high)};
    if (x->low < 0) return std::nullopt;
    if (op == "Mul" && y->low >= 0) return IndexRange{x->low * y->low, x->high * y->high};
    if (op == "FloorDiv" && y->low > 0) return IndexRange{x->low / y->high, x->high / y->low};
    return std::nullopt;
  }

  const Sources& sources_;
  std::map<Tensor, MaybeRange> ranges_;
};

}  // namespace

bool IndicesAreInRange(const Node& gather,
                       const std::function<Tensors(const Node& placeholder)>& sources) {
  RangeFinder finder(sources);
  const Tensor &table = gather.input(0), &indices = gather.input(1);
  const auto fits = [&](const Tensor& of, int64_t size) {
    const MaybeRange range = finder.Of(of);
    return range && range->low >= 0 && range->high < size;
  };
  if (gather.op() == "GatherV2") {
    const std::optional<Array> axis = ConstantValue(gather.input(2));
    return axis && fits(indices, table.dim(static_cast<int>(axis->AsDouble())));
  }
  // Those of GatherNd are often a Stack of the parts for each axis.
  const Node& parts = *indices.node();
  const int64_t last = indices.rank() - 1;
  const bool stacked =
      parts.op() == "Pack" && (parts.attrs().i("axis") == last || parts.attrs().i("axis") == -1);
  const int first_axis =
      gather.attrs().has("batch_dims") ? static_cast<int>(gather.attrs().i("batch_dims")) : 0;
  for (int i = 0; i < static_cast<int>(indices.dim(-1)); ++i) {
    if (!fits(stacked ? parts.input(i) : indices, table.dim(first_axis + i))) return false;
  }
  return true;
}

}  // namespace estimator::tpu
