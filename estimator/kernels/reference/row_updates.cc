// The ops of a step that updates only the rows it looks up; see runtime/passes/row_updates.h.
//   _CheckIndices: indices [..., K] -> the same
//     Fails unless every indices[..., k] is in [0, limits[k]).
//   _SumEqualRows: x [n, ...], ids [n], number of ids, axis 0 -> [n, ...]
//     Row i is the sum of the rows whose id is ids[i]. The sum starts at 0 and adds in the order of
//     the rows, as UnsortedSegmentSum does.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/indices.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

KernelPlan MakeCheckIndices(const KernelSpec& spec) {
  if (!IsIndex(spec.inputs[0].dtype)) return nullptr;
  const auto run = [limits = spec.attrs.ints("limits"),
                    x = spec.inputs[0]](const KernelArgs& args) {
    const Indices in(x.dtype, args.inputs[0]);
    const int64_t n = x.shape.num_elements();
    size_t k = 0;
    for (int64_t i = 0; i < n; ++i, k = k + 1 == limits.size() ? 0 : k + 1) {
      if (in[i] < 0 || in[i] >= limits[k])
        return IndexOutOfRange("indices", i, n, in[i], limits[k], args.step);
    }
    CopyTensor(x, args.inputs[0], args.outputs[0]);
    return absl::OkStatus();
  };
  return MakeKernel(run, 0, /*alias_input=*/0);
}

EST_REGISTER_KERNEL("_CheckIndices", KernelTier::kReference, MakeCheckIndices);

// Finds the first row with a given id. It is a hash table with open addressing, at most half full.
class FirstRows {
 public:
  explicit FirstRows(int64_t n) {
    while ((int64_t{1} << bits_) < 2 * n) ++bits_;
  }
  size_t num_slots() const { return size_t{1} << bits_; }
  void Clear(int64_t* slots) const { std::fill_n(slots, num_slots(), int64_t{-1}); }
  // The first row with the id of `row`: an earlier one, or `row` itself, which is then stored.
  int64_t Find(int64_t* slots, const Indices& ids, int64_t row) const {
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio: spreads near ids
    const size_t mask = num_slots() - 1;
    size_t slot = static_cast<size_t>((static_cast<uint64_t>(ids[row]) * kGolden) >> (64 - bits_));
    // This ends, because at least half of the slots are empty.
    while (slots[slot] >= 0 && ids[slots[slot]] != ids[row]) slot = (slot + 1) & mask;
    if (slots[slot] < 0) slots[slot] = row;
    return slots[slot];
  }

 private:
  int bits_ = 1;
};

EST_REGISTER_KERNEL("_SumEqualRows", KernelTier::kReference, [](const KernelSpec& spec) {
  const auto limits = ConstantInts(spec, 2);
  const int64_t n = spec.inputs[1].shape.num_elements();
  const int64_t row_size = n == 0 ? 0 : spec.outputs[0].shape.num_elements() / n;
  const FirstRows first_rows(n);
  const DType index = spec.inputs[1].dtype;
  if (!limits.has_value() || !IsIndex(index)) return KernelPlan();
  return VisitNumbers(spec.outputs[0].dtype, [&, limit = (*limits)[0]](auto tag) {
    using T = decltype(tag);
    // The result may overwrite x, so row i of x is read before row i of the result is written.
    const auto run = [=](const KernelArgs& args) {
      const Indices ids(index, args.inputs[1]);
      for (int64_t i = 0; i < n; ++i) {
        if (ids[i] < 0 || ids[i] >= limit)
          return IndexOutOfRange("indices", i, n, ids[i], limit, args.step);
      }
      int64_t* const slots = static_cast<int64_t*>(args.scratch);
      int64_t* const first = slots + first_rows.num_slots();
      first_rows.Clear(slots);
      T* const out = args.out<T>(0);
      for (int64_t i = 0; i < n; ++i) {
        first[i] = first_rows.Find(slots, ids, i);
        const T* const x = args.in<T>(0) + i * row_size;
        T* const sum = out + first[i] * row_size;
        // A row becomes a sum as soon as it is read, so ids that occur once need no second pass.
        for (int64_t k = 0; k < row_size; ++k) sum[k] = SumOf(first[i] == i ? T{} : sum[k], x[k]);
      }
      for (int64_t i = 0; i < n; ++i) {
        // Only now: a sum is complete after the last row with its id.
        if (first[i] != i) std::copy_n(out + first[i] * row_size, row_size, out + i * row_size);
      }
      return absl::OkStatus();
    };
    const size_t num_words = first_rows.num_slots() + static_cast<size_t>(n);
    return MakeKernel(run, num_words * sizeof(int64_t), /*alias_input=*/0);
  });
});

}  // namespace
}  // namespace estimator
