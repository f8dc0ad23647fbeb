// StableHLO's ops over several elements: reductions, windows, products and solutions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_split.h"
#include "tpu/stablehlo/testing/ops.h"

namespace estimator::tpu::stablehlo::testing {
namespace {

bool Contains(const Ints& list, int64_t number) {
  return std::find(list.begin(), list.end(), number) != list.end();
}
Bits At(const Tensor& x, const Ints& index) {
  return x.elements[static_cast<size_t>(OffsetOf(x.dims(), index))];
}
void RoundAll(Tensor* x) {
  for (Bits& element : x->elements) element = Rounded(x->type, element);
}

std::vector<Tensor> RunReduce(const Op& op, const Operands& in) {
  const Tensor &x = *in.at(0), &init = *in.at(1);
  const Ints axes = op.List("dimensions");
  Require(init.dims().empty() && init.type.dtype == x.type.dtype, op, "a scalar to begin with");
  const auto kept = [&axes](const Ints& of_axes) {
    Ints rest;
    for (size_t i = 0; i < of_axes.size(); ++i)
      if (!Contains(axes, static_cast<int64_t>(i))) rest.push_back(of_axes[i]);
    return rest;
  };
  Tensor out(Type(x.type.dtype, Shape(kept(x.dims())), x.type.is_unsigned));
  std::fill(out.elements.begin(), out.elements.end(), init.elements[0]);
  const Combiner combine = CombinerOf(op.regions.at(0));
  size_t next = 0;
  ForEachIndex(x.dims(), [&](const Ints& index) {
    Bits& sum = out.elements[static_cast<size_t>(OffsetOf(out.dims(), kept(index)))];
    sum = combine({sum, x.elements[next++]});
  });
  RoundAll(&out);
  return {out};
}

// The windows of reduce_window and select_and_scatter.
struct Windows {
  Windows(const Op& op, const Tensor& x)
      : sizes(op.List("window_dimensions")),
        strides(op.List("window_strides")),
        padding(op.Rows("padding")) {
    Require(sizes.size() == x.dims().size() && strides.size() == sizes.size() &&
                padding.size() == sizes.size(),
            op, "numbers for each axis");
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int64_t size = padding[i].at(0) + x.dims()[i] + padding[i].at(1);
      positions.push_back(size < sizes[i] ? 0 : (size - sizes[i]) / strides[i] + 1);
    }
  }
  // Where the window at `position` reads for its element `tap`; may be in the padding.
  Ints Source(const Ints& position, const Ints& tap) const {
    Ints index = position;
    for (size_t i = 0; i < index.size(); ++i)
      index[i] = position[i] * strides[i] + tap[i] - padding[i][0];
    return index;
  }
  Ints sizes, strides;
  std::vector<Ints> padding;
  Ints positions;  // how many windows there are along each axis
};

std::vector<Tensor> RunReduceWindow(const Op& op, const Operands& in) {
  const Tensor &x = *in.at(0), &init = *in.at(1);
  const Windows windows(op, x);
  const Combiner combine = CombinerOf(op.regions.at(0));
  Tensor out(Type(x.type.dtype, Shape(windows.positions)));
  size_t next = 0;
  ForEachIndex(windows.positions, [&](const Ints& position) {
    Bits sum = init.elements.at(0);
    ForEachIndex(windows.sizes, [&](const Ints& tap) {
      const Ints source = windows.Source(position, tap);
      sum = combine({sum, IsInside(x.dims(), source) ? At(x, source) : init.elements[0]});
    });
    out.elements[next++] = sum;
  });
  RoundAll(&out);
  return {out};
}

std::vector<Tensor> RunSelectAndScatter(const Op& op, const Operands& in) {
  const Tensor &x = *in.at(0), &dy = *in.at(1), &init = *in.at(2);
  const Windows windows(op, x);
  Require(dy.dims() == windows.positions, op, "a source for each window");
  const Combiner select = CombinerOf(op.regions.at(0)), add = CombinerOf(op.regions.at(1));
  Tensor out(x.type);
  std::fill(out.elements.begin(), out.elements.end(), init.elements.at(0));
  size_t next = 0;
  ForEachIndex(windows.positions, [&](const Ints& position) {
    Ints chosen;
    ForEachIndex(windows.sizes, [&](const Ints& tap) {
      const Ints source = windows.Source(position, tap);
      if (!IsInside(x.dims(), source)) return;
      if (chosen.empty() || select({At(x, chosen), At(x, source)}) == 0) chosen = source;
    });
    const Bits gradient = dy.elements[next++];
    if (chosen.empty()) return;
    Bits& sum = out.elements[static_cast<size_t>(OffsetOf(x.dims(), chosen))];
    sum = add({sum, gradient});
  });
  RoundAll(&out);
  return {out};
}

// The product of two elements, added to a sum; exact for all but float64 and integers of 64 bits.
void AddProduct(const Type& type, Bits a, Bits b, Bits* sum) {
  *sum = Binary("add", type, *sum, Binary("multiply", type, a, b));
}

std::vector<Tensor> RunDotGeneral(const Op& op, const Operands& in) {
  const Tensor &lhs = *in.at(0), &rhs = *in.at(1);
  const Ints lhs_batch = op.List("lhs_batching_dimensions"),
             rhs_batch = op.List("rhs_batching_dimensions"),
             lhs_contracting = op.List("lhs_contracting_dimensions"),
             rhs_contracting = op.List("rhs_contracting_dimensions");
  Require(lhs.type.dtype == rhs.type.dtype, op, "operands of one dtype");
  Require(lhs_batch.size() == rhs_batch.size() && lhs_contracting.size() == rhs_contracting.size(),
          op, "lists of one length");
  Ints dims, lhs_free, rhs_free, summed;
  const auto equal = [&](const Ints& a, const Ints& b, Ints* sizes) {
    for (size_t i = 0; i < a.size(); ++i) {
      sizes->push_back(lhs.dims().at(static_cast<size_t>(a[i])));
      Require(sizes->back() == rhs.dims().at(static_cast<size_t>(b[i])), op, "equal axes");
    }
  };
  equal(lhs_batch, rhs_batch, &dims);
  equal(lhs_contracting, rhs_contracting, &summed);
  const auto free = [&dims](const Tensor& x, const Ints& batch, const Ints& contracting) {
    Ints axes;
    for (size_t i = 0; i < x.dims().size(); ++i) {
      const auto axis = static_cast<int64_t>(i);
      if (Contains(batch, axis) || Contains(contracting, axis)) continue;
      axes.push_back(axis);
      dims.push_back(x.dims()[i]);
    }
    return axes;
  };
  lhs_free = free(lhs, lhs_batch, lhs_contracting);
  rhs_free = free(rhs, rhs_batch, rhs_contracting);
  Tensor out(Type(op.result_types.at(0).dtype, Shape(dims)));
  const auto place = [](Ints* to, const Ints& axes, const Ints& from, size_t first) {
    for (size_t i = 0; i < axes.size(); ++i) (*to)[static_cast<size_t>(axes[i])] = from[first + i];
  };
  size_t next = 0;
  ForEachIndex(dims, [&](const Ints& index) {
    Ints a(lhs.dims().size()), b(rhs.dims().size());
    place(&a, lhs_batch, index, 0);
    place(&b, rhs_batch, index, 0);
    place(&a, lhs_free, index, lhs_batch.size());
    place(&b, rhs_free, index, lhs_batch.size() + lhs_free.size());
    Bits& sum = out.elements[next++];
    ForEachIndex(summed, [&](const Ints& k) {
      place(&a, lhs_contracting, k, 0);
      place(&b, rhs_contracting, k, 0);
      AddProduct(lhs.type, At(lhs, a), At(rhs, b), &sum);
    });
  });
  RoundAll(&out);
  return {out};
}

// "[b, 0, 1, f]" of a convolution: the axes of the letters, then of the spatial numbers.
struct Layout {
  Layout(const Op& op, absl::string_view text, char first, char second) {
    const std::vector<std::string> labels = absl::StrSplit(text, ", ");
    Require(labels.size() == 4, op, "two spatial axes");
    for (size_t i = 0; i < 4; ++i) {
      const char label = labels[i].at(0);
      (label == first ? outer : label == second ? inner : label == '0' ? rows : columns) = i;
    }
  }
  // An index of the tensor.
  Ints Index(int64_t outer_index, int64_t inner_index, int64_t row, int64_t column) const {
    Ints index(4);
    index[outer] = outer_index;
    index[inner] = inner_index;
    index[rows] = row;
    index[columns] = column;
    return index;
  }
  size_t outer = 0, inner = 0, rows = 0, columns = 0;
};

std::vector<Tensor> RunConvolution(const Op& op, const Operands& in) {
  const Tensor &x = *in.at(0), &filter = *in.at(1);
  const std::string& text = op.attributes;
  const size_t begin = text.find("#stablehlo.conv<[") + 17;
  const std::vector<std::string> lists =
      absl::StrSplit(text.substr(begin, text.find("]>", begin) - begin), absl::ByAnyChar("[]"));
  Require(lists.size() == 5 && x.type.dtype == filter.type.dtype, op, "layouts and one dtype");
  const Layout lhs(op, lists[0], 'b', 'f'), rhs(op, lists[2], 'i', 'o'), y(op, lists[4], 'b', 'f');
  const Ints strides = op.List("window_strides"), lhs_dilation = op.List("lhs_dilation"),
             rhs_dilation = op.List("rhs_dilation");
  const std::vector<Ints> padding = op.Rows("padding");
  const int64_t groups = op.Int("feature_group_count"), batches = op.Int("batch_group_count");
  const int64_t outs = filter.dims()[rhs.inner], ins = filter.dims()[rhs.outer];
  Require(x.dims()[lhs.inner] == ins * groups && outs % groups == 0 && outs % batches == 0 &&
              x.dims()[lhs.outer] % batches == 0,
          op, "channels and examples that fit the groups");
  const int64_t examples = x.dims()[lhs.outer] / batches;
  const auto size_of = [&](size_t axis, size_t of_x, size_t of_filter) {
    const auto dilated = [](int64_t size, int64_t by) {
      return size == 0 ? 0 : (size - 1) * by + 1;
    };
    const int64_t size = padding.at(axis).at(0) + dilated(x.dims()[of_x], lhs_dilation.at(axis)) +
                         padding[axis].at(1);
    const int64_t window = dilated(filter.dims()[of_filter], rhs_dilation.at(axis));
    return size < window ? 0 : (size - window) / strides.at(axis) + 1;
  };
  const Ints dims =
      y.Index(examples, outs, size_of(0, lhs.rows, rhs.rows), size_of(1, lhs.columns, rhs.columns));
  Tensor out(Type(op.result_types.at(0).dtype, Shape(dims)));
  // The element of x that tap `tap` of the window at `position` reads; -1: a gap or the padding.
  const auto source = [&](size_t axis, int64_t position, int64_t tap, int64_t size) {
    const int64_t at = position * strides[axis] + tap * rhs_dilation[axis] - padding[axis][0];
    const int64_t by = lhs_dilation[axis];
    return at < 0 || at % by != 0 || at / by >= size ? -1 : at / by;
  };
  size_t next = 0;
  ForEachIndex(dims, [&](const Ints& index) {
    const int64_t o = index[y.inner];
    const int64_t group = o / (outs / groups), batch = o / (outs / batches);
    Bits& sum = out.elements[next++];
    for (int64_t r = 0; r < filter.dims()[rhs.rows]; ++r) {
      const int64_t row = source(0, index[y.rows], r, x.dims()[lhs.rows]);
      for (int64_t s = 0; s < filter.dims()[rhs.columns]; ++s) {
        const int64_t column = source(1, index[y.columns], s, x.dims()[lhs.columns]);
        for (int64_t i = 0; row >= 0 && column >= 0 && i < ins; ++i) {
          AddProduct(
              x.type,
              At(x, lhs.Index(batch * examples + index[y.outer], group * ins + i, row, column)),
              At(filter, rhs.Index(i, o, r, s)), &sum);
        }
      }
    }
  });
  RoundAll(&out);
  return {out};
}

// --- Matrices: the last two axes

// Calls fn(matrix) with the number of the first element of each matrix of x.
template <typename Fn>
void ForEachMatrix(const Tensor& x, Fn fn) {
  const size_t rank = x.dims().size();
  const int64_t size = x.dims()[rank - 2] * x.dims()[rank - 1];
  for (int64_t first = 0; size > 0 && first < x.size(); first += size)
    fn(static_cast<size_t>(first));
}

std::vector<Tensor> RunCholesky(const Op& op, const Operands& in) {
  const Tensor& x = *in.at(0);
  const auto n = static_cast<size_t>(x.dims().at(x.dims().size() - 1));
  Require(op.Word("lower") == "true" && x.dims().at(x.dims().size() - 2) == x.dims().back(), op,
          "square matrices, and the lower factor");
  Tensor out(x.type);
  // StableHLO does not define what is above the diagonal.
  std::fill(out.elements.begin(), out.elements.end(), BitsOf(std::nan("")));
  ForEachMatrix(x, [&](size_t first) {
    const auto l = [&](size_t i, size_t j) { return AsFloat(out.elements[first + i * n + j]); };
    for (size_t j = 0; j < n; ++j) {
      for (size_t i = j; i < n; ++i) {
        double sum = AsFloat(x.elements[first + i * n + j]);
        for (size_t k = 0; k < j; ++k) sum -= l(i, k) * l(j, k);
        out.elements[first + i * n + j] = BitsOf(i == j ? std::sqrt(sum) : sum / l(j, j));
      }
    }
  });
  RoundAll(&out);
  return {out};
}

std::vector<Tensor> RunTriangularSolve(const Op& op, const Operands& in) {
  const Tensor &a = *in.at(0), &b = *in.at(1);
  const auto n = static_cast<size_t>(a.dims().back()), m = static_cast<size_t>(b.dims().back());
  Require(op.Word("left_side") == "true" && op.Word("unit_diagonal") == "false", op,
          "the left side, and a diagonal that is read");
  Require(a.type.dtype == b.type.dtype && b.dims().at(b.dims().size() - 2) == a.dims().back(), op,
          "matrices that fit");
  const bool transposed = op.Word("transpose_a") == "TRANSPOSE";
  // The transposed matrix of a lower triangle is an upper one.
  const bool forward = (op.Word("lower") == "true") != transposed;
  Tensor out = b;
  size_t of_b = 0;
  ForEachMatrix(a, [&](size_t first) {
    const auto at = [&](size_t i, size_t j) {
      return AsFloat(a.elements[first + (transposed ? j * n + i : i * n + j)]);
    };
    for (size_t column = 0; column < m; ++column) {
      const auto x = [&](size_t row) -> Bits& { return out.elements[of_b + row * m + column]; };
      for (size_t step = 0; step < n; ++step) {
        const size_t i = forward ? step : n - 1 - step;
        double sum = AsFloat(x(i));
        for (size_t done = 0; done < step; ++done) {
          const size_t j = forward ? done : n - 1 - done;
          sum -= at(i, j) * AsFloat(x(j));
        }
        x(i) = BitsOf(sum / at(i, i));
      }
    }
    of_b += n * m;
  });
  RoundAll(&out);
  return {out};
}

}  // namespace

const std::map<std::string, TensorOp>& SumOps() {
  static const auto* const ops = new std::map<std::string, TensorOp>{
      {"cholesky", RunCholesky},
      {"convolution", RunConvolution},
      {"dot_general", RunDotGeneral},
      {"reduce", RunReduce},
      {"reduce_window", RunReduceWindow},
      {"select_and_scatter", RunSelectAndScatter},
      {"triangular_solve", RunTriangularSolve},
  };
  return *ops;
}

}  // namespace estimator::tpu::stablehlo::testing
