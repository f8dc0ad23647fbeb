#include "estimator/runtime/control_flow/non_finite_watch.h"

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "glog/logging.h"

namespace estimator {
namespace {

thread_local NonFiniteWatch* current = nullptr;

}  // namespace

std::optional<int64_t> FindNonFinite(const Array& value) {
  std::optional<int64_t> infinite;
  for (int64_t i = 0; i < value.num_elements(); ++i) {
    const double element = value.AsDouble(i);
    if (std::isnan(element)) return i;
    if (!infinite.has_value() && std::isinf(element)) infinite = i;
  }
  return infinite;
}

NonFiniteWatch::NonFiniteWatch() {
  CHECK(current == nullptr);
  current = this;
}
NonFiniteWatch::~NonFiniteWatch() { current = nullptr; }
NonFiniteWatch* NonFiniteWatch::Current() { return current; }

void NonFiniteWatch::Look(const ir::Node& node, absl::Span<void* const> outputs) {
  if (found_.size() >= kMostFound) return;
  for (size_t o = 0; o < node.outputs.size(); ++o) {
    const TensorSpec& spec = node.outputs[o];
    if (!IsFloating(spec.dtype) || ir::IsList(spec)) continue;
    const Array value = Array::Wrap(spec.dtype, spec.shape, outputs[o], nullptr);
    const std::optional<int64_t> i = FindNonFinite(value);
    if (!i.has_value()) continue;
    const bool is_nan = std::isnan(value.AsDouble(*i));
    const std::string at =
        trips_.empty() ? "" : absl::StrCat(" at trip ", absl::StrJoin(trips_, ", trip "));
    found_.push_back({.op = node.name,
                      .text = absl::StrCat(node.name, " (", spec.ToString(), ") is ",
                                           is_nan ? "NaN" : "Inf", at),
                      .is_nan = is_nan});
  }
}

std::optional<std::string> NonFiniteWatch::FirstInside(absl::string_view name) const {
  const std::string prefix = absl::StrCat(name, "/");
  const Found* first = nullptr;
  for (const Found& found : found_) {
    if (!absl::StartsWith(found.op, prefix)) continue;
    if (found.is_nan) return found.text;
    if (first == nullptr) first = &found;
  }
  return first == nullptr ? std::nullopt : std::optional(first->text);
}

}  // namespace estimator
