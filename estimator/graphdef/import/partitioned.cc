#include "estimator/graphdef/import/partitioned.h"

#include <algorithm>
#include <cstdint>

#include "estimator/ops/slicing.h"

namespace estimator {
namespace {

// Where part k ends along the axis.
int64_t EndOfPart(const std::vector<const SourceVariable*>& parts, size_t k, size_t axis) {
  return k + 1 < parts.size() ? parts[k + 1]->begin[axis]
                              : parts[k]->whole_shape[static_cast<int>(axis)];
}

}  // namespace

std::vector<const SourceVariable*> PartsOf(const std::vector<SourceVariable>& variables,
                                           const SourceVariable& variable) {
  std::vector<const SourceVariable*> parts;
  for (const SourceVariable& other : variables)
    if (other.whole == variable.whole && other.local == variable.local) parts.push_back(&other);
  std::sort(parts.begin(), parts.end(),
            [](const SourceVariable* a, const SourceVariable* b) { return a->begin < b->begin; });
  return parts;
}

int AxisOfParts(const std::vector<const SourceVariable*>& parts) {
  const std::vector<int64_t>& last = parts.back()->begin;
  const auto divided = std::find_if(last.begin(), last.end(), [](int64_t at) { return at > 0; });
  return static_cast<int>(divided - last.begin());
}

std::string PartProblem(const std::vector<SourceVariable>& variables,
                        const SourceVariable& variable) {
  if (variable.whole.empty()) return "";
  const std::vector<const SourceVariable*> parts = PartsOf(variables, variable);
  const auto axis = static_cast<size_t>(AxisOfParts(parts));
  const auto rank = static_cast<size_t>(variable.whole_shape.rank());
  bool whole = parts.size() > 1 && axis < rank;
  for (size_t k = 0; k < parts.size() && whole; ++k) {
    const SourceVariable& part = *parts[k];
    whole = part.whole_shape == variable.whole_shape && part.begin.size() == rank &&
            part.trainable == variable.trainable && (k == 0) == (part.begin[axis] == 0) &&
            part.begin[axis] < EndOfPart(parts, k, axis);
    for (size_t i = 0; i < rank && whole; ++i) whole = i == axis || part.begin[i] == 0;
  }
  return whole ? "" : "a part of a variable whose parts are not slices along one axis";
}

Tensor ValueOfPart(const Tensor& whole, const std::vector<const SourceVariable*>& parts, size_t k) {
  const auto axis = static_cast<size_t>(AxisOfParts(parts));
  std::vector<int64_t> size(parts[k]->whole_shape.dims().begin(),
                            parts[k]->whole_shape.dims().end());
  size[axis] = EndOfPart(parts, k, axis) - parts[k]->begin[axis];
  return Slice(whole, parts[k]->begin, size, parts[k]->name + "/slice");
}

}  // namespace estimator
