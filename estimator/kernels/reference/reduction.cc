// Reductions over axes, and L2Loss. 16-bit floats are accumulated in float32. float32 is
// accumulated in pairs, so that long sums stay accurate. Integers are accumulated in 64 bits and
// wrap around.
#include <limits>
#include <vector>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/accumulate.h"
#include "estimator/kernels/reference/loops.h"
#include "estimator/kernels/strided_rows.h"

namespace estimator {
namespace {

// How to iterate over the elements that are reduced to one output.
struct Layout {
  StridedRows<1> kept;     // the offset of the first element for each output
  StridedRows<1> reduced;  // the offsets of its elements from there
};

std::optional<Layout> MakeLayout(const KernelSpec& spec) {
  const std::optional<std::vector<int64_t>> axes = ConstantInts(spec, 1);
  if (!axes.has_value()) return std::nullopt;
  const Shape& shape = spec.inputs[0].shape;
  std::vector<bool> is_reduced(shape.dims().size(), false);
  for (const int64_t axis : *axes)
    is_reduced[static_cast<size_t>(WrapAxis(axis, shape.rank()))] = true;
  Shape kept, reduced;
  std::array<std::vector<int64_t>, 1> kept_strides, reduced_strides;
  const std::vector<int64_t> strides = shape.strides();
  for (size_t i = 0; i < strides.size(); ++i) {
    (is_reduced[i] ? reduced : kept).push_back(shape.dims()[i]);
    (is_reduced[i] ? reduced_strides : kept_strides)[0].push_back(strides[i]);
  }
  Layout layout{StridedRows<1>(kept, kept_strides), StridedRows<1>(reduced, reduced_strides)};
  if (!layout.kept.ok() || !layout.reduced.ok()) return std::nullopt;
  return layout;
}

// A sum as a binary counter of partial sums: partial k is the sum of 2^k blocks. The error grows
// with the logarithm of the number of terms, not with the number itself.
template <typename T>
class PairwiseSum {
 public:
  void Add(T x) {
    block_ += x;
    if (++in_block_ < kBlock) return;
    T carry = block_;
    block_ = 0;
    in_block_ = 0;
    uint64_t n = num_blocks_++;
    size_t level = 0;
    // Earlier terms are the left operands, so that the sum has one fixed order.
    for (; (n & 1) != 0; n >>= 1) carry = partial_[level++] + carry;
    partial_[level] = carry;
  }
  T Total() const {
    T total = block_;
    size_t level = 0;
    for (uint64_t n = num_blocks_; n != 0; n >>= 1, ++level) {
      if ((n & 1) != 0) total = partial_[level] + total;
    }
    return total;
  }

 private:
  static constexpr int kBlock = 16;
  T block_ = 0;
  int in_block_ = 0;
  uint64_t num_blocks_ = 0;
  std::array<T, 64> partial_;
};

template <typename T>
struct SumReduction {
  void Add(T x) {
    if constexpr (std::is_floating_point_v<T>)
      sum.Add(x);
    else
      wrapped += static_cast<uint64_t>(x);
  }
  T Result(int64_t) const {
    if constexpr (std::is_floating_point_v<T>)
      return sum.Total();
    else
      return static_cast<T>(wrapped);
  }
  PairwiseSum<std::conditional_t<std::is_floating_point_v<T>, T, float>> sum;
  uint64_t wrapped = 0;
};
template <typename T>
struct MeanReduction : SumReduction<T> {
  // Integers are summed and divided in 64 bits, as in TensorFlow: the count may not fit into T.
  T Result(int64_t n) const {
    if constexpr (std::is_floating_point_v<T>)
      return SumReduction<T>::Result(n) / static_cast<T>(n);
    else if constexpr (std::is_signed_v<T>)
      return n == 0 ? T(0) : static_cast<T>(static_cast<int64_t>(this->wrapped) / n);
    else
      return n == 0 ? T(0) : static_cast<T>(this->wrapped / static_cast<uint64_t>(n));
  }
};
template <typename T>
struct ProdOf {
  void Add(T x) {
    if constexpr (std::is_floating_point_v<T>)
      product *= x;
    else
      product = static_cast<T>(static_cast<uint64_t>(product) * static_cast<uint64_t>(x));
  }
  T Result(int64_t) const { return product; }
  T product = 1;
};
template <typename T>
constexpr T LowestOf() {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}
template <typename T>
constexpr T Highest() {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::max();
}
template <typename T>
struct MaxOf {
  void Add(T x) {
    best = (x > best || x != x) ? x : best;
  }  // NaN replaces any value, and no value replaces NaN
  T Result(int64_t) const { return best; }
  T best = LowestOf<T>();
};
template <typename T>
struct MinOf {
  void Add(T x) { best = (x < best || x != x) ? x : best; }
  T Result(int64_t) const { return best; }
  T best = Highest<T>();
};
template <typename T>
struct AllOf {
  void Add(T x) { result = result && x; }
  T Result(int64_t) const { return result; }
  T result = true;
};
template <typename T>
struct AnyOf {
  void Add(T x) { result = result || x; }
  T Result(int64_t) const { return result; }
  T result = false;
};

// Only this is compiled for each type.
using ReduceFn = void (*)(const Layout& layout, const KernelArgs& args);

template <template <typename> class Reducer, typename T>
void Reduce(const Layout& layout, const KernelArgs& args) {
  const T* x = args.in<T>(0);
  T* out = args.out<T>(0);
  layout.kept.ForEachElementInOrder([&](int64_t i, const auto& start) {
    Reducer<Compute<T>> reducer;
    layout.reduced.ForEachElementInOrder([&](int64_t, const auto& at) {
      reducer.Add(static_cast<Compute<T>>(x[start[0] + at[0]]));
    });
    out[i] = static_cast<T>(reducer.Result(layout.reduced.num_elements()));
  });
}

KernelPlan ReductionKernel(const KernelSpec& spec, ReduceFn reduce) {
  const std::optional<Layout> layout = MakeLayout(spec);
  if (!layout.has_value() || reduce == nullptr) return nullptr;
  return MakeKernel([layout = *layout, reduce](const KernelArgs& args) { reduce(layout, args); });
}

template <template <typename> class Reducer>
KernelPlan MakeReduction(const KernelSpec& spec) {
  ReduceFn reduce = nullptr;
  VisitNumeric(spec.inputs[0].dtype, [&](auto tag) {
    if constexpr (kIsNumberType<decltype(tag)>) reduce = Reduce<Reducer, decltype(tag)>;
  });
  return ReductionKernel(spec, reduce);
}

template <template <typename> class Reducer>
KernelPlan MakeLogical(const KernelSpec& spec) {
  return ReductionKernel(spec, Reduce<Reducer, bool>);
}

EST_REGISTER_KERNEL("Sum", KernelTier::kReference, MakeReduction<SumReduction>);
EST_REGISTER_KERNEL("Mean", KernelTier::kReference, MakeReduction<MeanReduction>);
EST_REGISTER_KERNEL("Prod", KernelTier::kReference, MakeReduction<ProdOf>);
EST_REGISTER_KERNEL("Max", KernelTier::kReference, MakeReduction<MaxOf>);
EST_REGISTER_KERNEL("Min", KernelTier::kReference, MakeReduction<MinOf>);
EST_REGISTER_KERNEL("All", KernelTier::kReference, MakeLogical<AllOf>);
EST_REGISTER_KERNEL("Any", KernelTier::kReference, MakeLogical<AnyOf>);

EST_REGISTER_KERNEL("L2Loss", KernelTier::kReference, [](const KernelSpec& spec) {
  return VisitFloating(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    const int64_t n = spec.inputs[0].shape.num_elements();
    return MakeKernel([n](const KernelArgs& args) {
      PairwiseSum<Compute<T>> sum;
      for (int64_t i = 0; i < n; ++i) {
        const auto x = static_cast<Compute<T>>(args.in<T>(0)[i]);
        sum.Add(x * x);
      }
      args.out<T>(0)[0] = static_cast<T>(sum.Total() / 2);
    });
  });
});

}  // namespace
}  // namespace estimator
