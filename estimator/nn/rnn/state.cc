#include "estimator/nn/rnn/state.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"

namespace estimator::rnn_cell {

Tensor State::Fail(absl::string_view what) const {
  return GraphFor(Flatten()).Fail(
      InvalidArgument("the state of the recurrent cell ", what, "; it is ", ToString()));
}

Tensor State::Get(Kind kind, size_t i, absl::string_view what) const {
  return kind_ == kind && i < tensors_.size() ? tensors_[i] : Fail(what);
}

Tensor State::tensor() const { return Get(Kind::kTensor, 0, "is not one tensor"); }
Tensor State::c() const { return Get(Kind::kLSTM, 0, "is not an LSTM's, with c and h"); }
Tensor State::h() const { return Get(Kind::kLSTM, 1, "is not an LSTM's, with c and h"); }

State State::operator[](int i) const {
  const int index = i < 0 ? i + size() : i;
  if (index >= 0 && index < size()) return states_[index];
  return Fail(absl::StrCat("has no element ", i));
}

std::vector<Tensor> State::Flatten() const {
  std::vector<Tensor> flat = tensors_;
  for (const State& state : states_) {
    for (const Tensor& tensor : state.Flatten()) flat.push_back(tensor);
  }
  return flat;
}

State State::Zip(const State& other, const ZipFn& fn) const {
  if (kind_ != other.kind_ || tensors_.size() != other.tensors_.size() ||
      states_.size() != other.states_.size()) {
    return Fail(absl::StrCat("changes its structure to ", other.ToString()));
  }
  State result = *this;
  for (size_t i = 0; i < tensors_.size(); ++i)
    result.tensors_[i] = fn(tensors_[i], other.tensors_[i]);
  for (size_t i = 0; i < states_.size(); ++i)
    result.states_[i] = states_[i].Zip(other.states_[i], fn);
  return result;
}

State State::Map(const MapFn& fn) const {
  int index = 0;
  return MapFrom(fn, index);
}

State State::MapFrom(const MapFn& fn, int& index) const {
  State result = *this;
  for (size_t i = 0; i < tensors_.size(); ++i)
    result.tensors_[i] = fn(tensors_[i], index++, kind_ == Kind::kLSTM && i == 0);
  for (size_t i = 0; i < states_.size(); ++i) result.states_[i] = states_[i].MapFrom(fn, index);
  return result;
}

std::string State::ToString() const {
  if (kind_ == Kind::kLSTM) {
    return absl::StrCat("(c=", tensors_[0].spec().ToString(), ", h=", tensors_[1].spec().ToString(),
                        ")");
  }
  if (kind_ == Kind::kTensor) return tensors_.empty() ? "empty" : tensors_[0].spec().ToString();
  return absl::StrCat("[",
                      absl::StrJoin(states_, ", ",
                                    [](std::string* out, const State& state) {
                                      absl::StrAppend(out, state.ToString());
                                    }),
                      "]");
}

}  // namespace estimator::rnn_cell
