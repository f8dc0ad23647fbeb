// StableHLO's ops that move elements, and constants.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "tpu/stablehlo/testing/ops.h"

namespace estimator::tpu::stablehlo::testing {
namespace {

Type WithDims(const Type& type, const Ints& dims) {
  return {type.dtype, Shape(dims), type.is_unsigned};
}

// A tensor of `dims` whose elements are those of x at the indices that fn(index) returns.
template <typename Fn>
std::vector<Tensor> Moved(const Tensor& x, const Ints& dims, Fn from) {
  Tensor out(WithDims(x.type, dims));
  size_t next = 0;
  ForEachIndex(dims, [&](const Ints& index) {
    const Ints source = from(index);
    out.elements[next++] = x.elements.at(static_cast<size_t>(OffsetOf(x.dims(), source)));
  });
  return {out};
}

bool Has(const Ints& list, size_t axis) {
  return std::find(list.begin(), list.end(), static_cast<int64_t>(axis)) != list.end();
}
bool IsAscending(const Ints& list) { return std::is_sorted(list.begin(), list.end()); }

// --- Constants

std::vector<Tensor> RunConstant(const Op& op, const Operands&) {
  const size_t begin = op.attributes.find('<') + 1, end = op.attributes.find('>');
  return {ParseConstant(op.result_types.at(0), op.attributes.substr(begin, end - begin))};
}

std::vector<Tensor> RunIota(const Op& op, const Operands&) {
  Tensor out(op.result_types.at(0));
  const auto axis = static_cast<size_t>(op.Int("iota_dimension"));
  Require(axis < out.dims().size(), op, "an axis of the result");
  const bool floating = IsFloating(out.type.dtype);
  size_t next = 0;
  ForEachIndex(out.dims(), [&](const Ints& index) {
    const int64_t i = index[axis];
    out.elements[next++] = Rounded(out.type, floating ? BitsOf(static_cast<double>(i)) : BitsOf(i));
  });
  return {out};
}

// --- Shapes

std::vector<Tensor> RunReshape(const Op& op, const Operands& in) {
  Tensor out = *in.at(0);
  out.type.shape = op.result_types.at(0).shape;
  Require(out.type.shape.num_elements() == out.size(), op, "the same number of elements");
  return {out};
}

std::vector<Tensor> RunBroadcastInDim(const Op& op, const Operands& in) {
  const Tensor& x = *in.at(0);
  const Ints &dims = op.result_types.at(0).shape.dims(), axes = op.List("broadcast_dimensions");
  Require(axes.size() == x.dims().size() && IsAscending(axes), op, "an axis for each, ascending");
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t size = dims.at(static_cast<size_t>(axes[i]));
    Require(x.dims()[i] == size || x.dims()[i] == 1, op, "an axis of 1 or of the result's size");
  }
  return Moved(x, dims, [&](const Ints& index) {
    Ints from;
    for (size_t i = 0; i < axes.size(); ++i)
      from.push_back(x.dims()[i] == 1 ? 0 : index[static_cast<size_t>(axes[i])]);
    return from;
  });
}

std::vector<Tensor> RunTranspose(const Op& op, const Operands& in) {
  const Tensor& x = *in.at(0);
  const Ints permutation = op.List("permutation");
  Ints sorted = permutation, dims;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    Require(sorted[i] == static_cast<int64_t>(i), op, "a permutation");
  Require(sorted.size() == x.dims().size(), op, "all axes");
  for (const int64_t axis : permutation) dims.push_back(x.dims()[static_cast<size_t>(axis)]);
  return Moved(x, dims, [&](const Ints& index) {
    Ints from(index.size());
    for (size_t i = 0; i < index.size(); ++i) from[static_cast<size_t>(permutation[i])] = index[i];
    return from;
  });
}

std::vector<Tensor> RunSlice(const Op& op, const Operands& in) {
  const Tensor& x = *in.at(0);
  const Ints starts = op.List("start_indices"), limits = op.List("limit_indices"),
             strides = op.List("strides");
  Require(starts.size() == x.dims().size() && limits.size() == starts.size() &&
              strides.size() == starts.size(),
          op, "numbers for each axis");
  Ints dims;
  for (size_t i = 0; i < starts.size(); ++i) {
    Require(0 <= starts[i] && starts[i] <= limits[i] && limits[i] <= x.dims()[i] && strides[i] > 0,
            op, "a range inside");
    dims.push_back((limits[i] - starts[i] + strides[i] - 1) / strides[i]);
  }
  return Moved(x, dims, [&](const Ints& index) {
    Ints from = index;
    for (size_t i = 0; i < from.size(); ++i) from[i] = starts[i] + index[i] * strides[i];
    return from;
  });
}

std::vector<Tensor> RunConcatenate(const Op& op, const Operands& in) {
  const auto axis = static_cast<size_t>(op.Int("dimension"));
  Ints dims = in.at(0)->dims();
  Require(axis < dims.size(), op, "an axis");
  dims[axis] = 0;
  for (const Tensor* x : in) {
    Ints others = x->dims();
    dims[axis] += others.at(axis);
    others[axis] = in[0]->dims()[axis];
    Require(others == in[0]->dims() && x->type.dtype == in[0]->type.dtype, op, "equal other axes");
  }
  Tensor out(WithDims(in[0]->type, dims));
  size_t next = 0;
  ForEachIndex(dims, [&](const Ints& index) {
    Ints from = index;
    size_t part = 0;
    for (; from[axis] >= in[part]->dims()[axis]; ++part) from[axis] -= in[part]->dims()[axis];
    out.elements[next++] =
        in[part]->elements[static_cast<size_t>(OffsetOf(in[part]->dims(), from))];
  });
  return {out};
}

std::vector<Tensor> RunPad(const Op& op, const Operands& in) {
  const Tensor &x = *in.at(0), &value = *in.at(1);
  Require(value.type == WithDims(x.type, {}), op, "a scalar of the same type");
  const Ints low = op.List("edge_padding_low"), high = op.List("edge_padding_high"),
             interior = op.List("interior_padding");
  Ints dims;
  for (size_t i = 0; i < x.dims().size(); ++i) {
    const int64_t size = x.dims()[i];
    dims.push_back(low.at(i) + size + std::max<int64_t>(size - 1, 0) * interior.at(i) + high.at(i));
    Require(dims[i] >= 0 && interior[i] >= 0, op, "no negative size");
  }
  Tensor out(WithDims(x.type, dims));
  std::fill(out.elements.begin(), out.elements.end(), value.elements[0]);
  size_t next = 0;
  ForEachIndex(x.dims(), [&](const Ints& index) {
    Ints to = index;
    for (size_t i = 0; i < to.size(); ++i) to[i] = low[i] + index[i] * (interior[i] + 1);
    if (IsInside(dims, to))
      out.elements[static_cast<size_t>(OffsetOf(dims, to))] = x.elements[next];
    ++next;
  });
  return {out};
}

std::vector<Tensor> RunReverse(const Op& op, const Operands& in) {
  const Tensor& x = *in.at(0);
  const Ints axes = op.List("dimensions");
  return Moved(x, x.dims(), [&](const Ints& index) {
    Ints from = index;
    for (const int64_t axis : axes) {
      const auto i = static_cast<size_t>(axis);
      from.at(i) = x.dims()[i] - 1 - index[i];
    }
    return from;
  });
}

// The starts of a dynamic slice, clamped so that the slice fits.
Ints StartsOf(const Op& op, const Operands& in, size_t first, const Ints& sizes) {
  const Ints& dims = in[0]->dims();
  Require(in.size() == first + dims.size() && sizes.size() == dims.size(), op, "a start each axis");
  Ints starts;
  for (size_t i = 0; i < dims.size(); ++i) {
    const Tensor& start = *in[first + i];
    Require(start.dims().empty() && IsInteger(start.type.dtype) && sizes[i] <= dims[i], op,
            "scalars for starts, and a slice that fits");
    starts.push_back(std::clamp<int64_t>(AsInt(start.elements[0]), 0, dims[i] - sizes[i]));
  }
  return starts;
}
Ints Plus(const Ints& a, const Ints& b) {
  Ints sum = a;
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += b[i];
  return sum;
}

std::vector<Tensor> RunDynamicSlice(const Op& op, const Operands& in) {
  const Ints sizes = op.List("slice_sizes"), starts = StartsOf(op, in, 1, sizes);
  return Moved(*in[0], sizes, [&](const Ints& index) { return Plus(starts, index); });
}

std::vector<Tensor> RunDynamicUpdateSlice(const Op& op, const Operands& in) {
  Tensor out = *in.at(0);
  const Tensor& update = *in.at(1);
  const Ints starts = StartsOf(op, in, 2, update.dims());
  size_t next = 0;
  ForEachIndex(update.dims(), [&](const Ints& index) {
    out.elements[static_cast<size_t>(OffsetOf(out.dims(), Plus(starts, index)))] =
        update.elements[next++];
  });
  return {out};
}

// --- By index

// The index vector of a gather or scatter at the place `batch` of the other axes of `indices`.
Ints IndexVector(const Tensor& indices, const Ints& batch, size_t vector_axis) {
  Ints at = batch;
  // An axis behind the last one is an implicit axis of 1.
  if (vector_axis == indices.dims().size())
    return {AsInt(indices.elements[static_cast<size_t>(OffsetOf(indices.dims(), at))])};
  Ints numbers;
  at.insert(at.begin() + static_cast<int64_t>(vector_axis), 0);
  for (; at[vector_axis] < indices.dims()[vector_axis]; ++at[vector_axis])
    numbers.push_back(AsInt(indices.elements[static_cast<size_t>(OffsetOf(indices.dims(), at))]));
  return numbers;
}

// The numbers of `index` at the axes that `list` has, or at the others.
Ints Chosen(const Ints& index, const Ints& list, bool in_list) {
  Ints chosen;
  for (size_t i = 0; i < index.size(); ++i)
    if (Has(list, i) == in_list) chosen.push_back(index[i]);
  return chosen;
}

// An index into x: `window` along the axes that `missing` lacks, plus `start` along those of `map`.
Ints PlaceOf(const Tensor& x, const Ints& window, const Ints& missing, const Ints& start,
             const Ints& map) {
  Ints place(x.dims().size(), 0);
  size_t next = 0;
  for (size_t i = 0; i < place.size(); ++i)
    if (!Has(missing, i)) place[i] = window.at(next++);
  for (size_t k = 0; k < map.size(); ++k) place.at(static_cast<size_t>(map[k])) += start.at(k);
  return place;
}

std::vector<Tensor> RunGather(const Op& op, const Operands& in) {
  const Tensor &x = *in.at(0), &indices = *in.at(1);
  const Ints offsets = op.List("offset_dims"), collapsed = op.List("collapsed_slice_dims"),
             map = op.List("start_index_map"), sizes = op.List("slice_sizes");
  const auto vector_axis = static_cast<size_t>(op.Int("index_vector_dim"));
  const Ints& dims = op.result_types.at(0).shape.dims();
  Require(sizes.size() == x.dims().size() && IsAscending(offsets) && IsAscending(collapsed), op,
          "a size for each axis, and ascending lists");
  Require(Chosen(dims, offsets, true) == Chosen(sizes, collapsed, false), op,
          "offset axes of the slice's sizes");
  Ints batch_dims = indices.dims();
  if (vector_axis < batch_dims.size())
    batch_dims.erase(batch_dims.begin() + static_cast<int64_t>(vector_axis));
  Require(Chosen(dims, offsets, false) == batch_dims, op, "batch axes of the indices' sizes");
  return Moved(x, dims, [&](const Ints& index) {
    Ints start = IndexVector(indices, Chosen(index, offsets, false), vector_axis);
    Require(start.size() == map.size(), op, "a number for each axis of start_index_map");
    for (size_t k = 0; k < map.size(); ++k) {
      const auto axis = static_cast<size_t>(map[k]);
      start[k] = std::clamp<int64_t>(start[k], 0, x.dims().at(axis) - sizes[axis]);
    }
    return PlaceOf(x, Chosen(index, offsets, true), collapsed, start, map);
  });
}

std::vector<Tensor> RunScatter(const Op& op, const Operands& in) {
  const Tensor &indices = *in.at(1), &updates = *in.at(2);
  Tensor out = *in.at(0);
  const Ints windows = op.List("update_window_dims"), inserted = op.List("inserted_window_dims"),
             map = op.List("scatter_dims_to_operand_dims");
  const auto vector_axis = static_cast<size_t>(op.Int("index_vector_dim"));
  Require(op.Word("unique_indices") == "false", op, "indices that may be equal");
  Require(windows.size() + inserted.size() == out.dims().size(), op, "a window of x's rank");
  Require(updates.type.dtype == out.type.dtype, op, "updates of x's dtype");
  const Combiner combine = CombinerOf(op.regions.at(0));
  size_t next = 0;
  ForEachIndex(updates.dims(), [&](const Ints& index) {
    const Ints start = IndexVector(indices, Chosen(index, windows, false), vector_axis);
    Require(start.size() == map.size(), op, "a number for each axis of the map");
    const Ints place = PlaceOf(out, Chosen(index, windows, true), inserted, start, map);
    const Bits update = updates.elements[next++];
    if (!IsInside(out.dims(), place)) return;
    Bits& element = out.elements[static_cast<size_t>(OffsetOf(out.dims(), place))];
    element = combine({element, update});
  });
  for (Bits& element : out.elements) element = Rounded(out.type, element);
  return {out};
}

// All operands in the order in which the first ones compare.
std::vector<Tensor> RunSort(const Op& op, const Operands& in) {
  const Ints& dims = in.at(0)->dims();
  const auto axis = static_cast<size_t>(op.Int("dimension"));
  Require(op.Word("is_stable") == "true", op, "a stable sort");
  const Combiner before = CombinerOf(op.regions.at(0));
  std::vector<Tensor> out;
  for (const Tensor* x : in) {
    Require(x->dims() == dims, op, "equal shapes");
    out.push_back(*x);
  }
  Ints rows = dims;
  rows.at(axis) = 1;
  ForEachIndex(rows, [&](const Ints& row) {
    const auto at = [&](int64_t i) {
      Ints index = row;
      index[axis] = i;
      return static_cast<size_t>(OffsetOf(dims, index));
    };
    std::vector<int64_t> order(static_cast<size_t>(dims[axis]));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      std::vector<Bits> arguments;
      for (const Tensor* x : in) {
        arguments.push_back(x->elements[at(a)]);
        arguments.push_back(x->elements[at(b)]);
      }
      return before(arguments) != 0;
    });
    for (size_t o = 0; o < in.size(); ++o) {
      for (size_t i = 0; i < order.size(); ++i)
        out[o].elements[at(static_cast<int64_t>(i))] = in[o]->elements[at(order[i])];
    }
  });
  return out;
}

}  // namespace

const std::map<std::string, TensorOp>& MoveOps() {
  static const auto* const ops = new std::map<std::string, TensorOp>{
      {"broadcast_in_dim", RunBroadcastInDim},
      {"concatenate", RunConcatenate},
      {"constant", RunConstant},
      {"dynamic_slice", RunDynamicSlice},
      {"dynamic_update_slice", RunDynamicUpdateSlice},
      {"gather", RunGather},
      {"iota", RunIota},
      {"pad", RunPad},
      {"reshape", RunReshape},
      {"reverse", RunReverse},
      {"scatter", RunScatter},
      {"slice", RunSlice},
      {"sort", RunSort},
      {"transpose", RunTranspose},
  };
  return *ops;
}

}  // namespace estimator::tpu::stablehlo::testing
