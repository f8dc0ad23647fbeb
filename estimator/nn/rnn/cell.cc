#include "estimator/nn/rnn/cell.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"

namespace estimator::rnn_cell {

// What the copies of a cell share.
struct RNNCell::Scope {
  enum class Kind { kPlain, kLayer, kWrapper } kind = Kind::kPlain;
  std::string name;
  std::optional<CapturedVariableScope> captured;  // after the first call
};

RNNCell::RNNCell(std::string name) : scope_(std::make_shared<Scope>()) {
  scope_->name = std::move(name);
}

LayerRNNCell::LayerRNNCell(std::string name) : RNNCell(std::move(name)) {
  scope_->kind = Scope::Kind::kLayer;
}

CellWrapper::CellWrapper(Cell cell, std::string wrapper)
    : RNNCell(""), cell_(std::move(cell)), wrapper_(std::move(wrapper)) {
  scope_->kind = Scope::Kind::kWrapper;
}

State CellWrapper::ZeroState(int64_t batch_size, DType dtype) const {
  const NameScope scope(absl::StrCat(wrapper_, "ZeroState"));
  return cell_.ZeroState(batch_size, dtype);
}

// Source: TF 2.15 (Keras) legacy_cells.RNNCell.__call__ and legacy_tf_layers.base.Layer.__call__.
template <typename Fn>
auto RNNCell::InScope(Fn&& fn) const {
  if (scope_->kind == Scope::Kind::kWrapper) return fn();
  if (!scope_->captured.has_value()) {
    // A cell that is no layer opens the caller's scope again, which shows in the names of its ops.
    std::optional<VariableScope> callers;
    if (scope_->kind == Scope::Kind::kPlain) callers.emplace(GetVariableScope());
    const VariableScope own(VariableScope::UniqueDefaultName(scope_->name));
    scope_->captured = GetVariableScope();
    return fn();
  }
  // kAuto, because a cell that outlives its graph creates its variables again in the next one.
  const VariableScope variables(*scope_->captured,
                                {.reuse = Reuse::kAuto, .auxiliary_name_scope = false});
  const NameScope names(scope_->captured->original_name_scope);
  return fn();
}

CellOutput RNNCell::operator()(const Tensor& inputs, const State& state) const {
  return InScope([&] { return Call(inputs, state); });
}

SequenceOutput RNNCell::Sequence(const Tensor& inputs, const State& state) const {
  return InScope([&] { return CallSequence(inputs, state); });
}

SequenceOutput RNNCell::CallSequence(const Tensor& inputs, const State& state) const {
  const Tensor invalid =
      inputs.graph()->Fail(Unimplemented("a cell whose HasSequence is true lacks CallSequence"));
  return {invalid, state};
}

}  // namespace estimator::rnn_cell
