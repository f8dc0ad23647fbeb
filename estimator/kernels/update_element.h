// UpdateElement: one element of an optimizer's update, by a formula of op_def/update_formulas.h.
#ifndef ESTIMATOR_KERNELS_UPDATE_ELEMENT_H_
#define ESTIMATOR_KERNELS_UPDATE_ELEMENT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "estimator/kernels/kernel.h"
#include "estimator/op_def/update_formulas.h"

namespace estimator {

// The operands of one run. Values have dtype T, arithmetic is done in N.
template <typename Rule, typename T, typename N>
class UpdateElement {
 public:
  explicit UpdateElement(const KernelArgs& args) : UpdateElement(args, kInputs, kStates) {}

  // Computes element e. It is read before it is written, so output i may overwrite input i.
  //   flag: that of the formula.
  template <typename Flag>
  [[gnu::always_inline]] void operator()(int64_t e, Flag flag) const {
    Compute(e, flag, kInputs, kStates);
  }

 private:
  static constexpr size_t kNumOperands = Rule::kDef.num_operands();
  static constexpr std::make_index_sequence<kNumOperands> kInputs{};
  static constexpr std::make_index_sequence<static_cast<size_t>(Rule::kDef.num_states)> kStates{};

  template <size_t... I, size_t... S>
  UpdateElement(const KernelArgs& args, std::index_sequence<I...>, std::index_sequence<S...>)
      : inputs_{args.in<T>(I)...},
        numbers_(updates::Prepare<Rule>(std::array<N, kNumOperands>{
            (Rule::kDef.IsFull(I) ? N{} : static_cast<N>(*args.in<T>(I)))...})),
        outputs_{args.out<T>(S)...} {}

  template <typename Flag, size_t... I, size_t... S>
  [[gnu::always_inline]] void Compute(int64_t e, Flag flag, std::index_sequence<I...>,
                                      std::index_sequence<S...>) const {
    const auto next = Rule::template Next<N>(
        {(Rule::kDef.IsFull(I) ? static_cast<N>(inputs_[I][e]) : numbers_[I])...}, flag);
    ((outputs_[S][e] = static_cast<T>(next[S])), ...);
  }

  const std::array<const T*, kNumOperands> inputs_;
  const std::array<N, kNumOperands> numbers_;  // the scalars, prepared
  const std::array<T*, Rule::kDef.num_states> outputs_;
};

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_UPDATE_ELEMENT_H_
