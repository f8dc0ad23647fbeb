#include "estimator/training/model/compiled_shapes.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "glog/logging.h"

namespace estimator {
namespace {

std::string ShapesText(const std::vector<InputSlot>& slots) {
  return absl::StrJoin(slots, ", ", [](std::string* out, const InputSlot& slot) {
    absl::StrAppend(out, slot.ToString(), " ", slot.spec.ToString());
  });
}

// Whether the arrays are the same, whatever their shapes.
bool SameArrays(const std::vector<InputSlot>& a, const std::vector<InputSlot>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const InputSlot& x, const InputSlot& y) {
        return x.is_label == y.is_label && x.name == y.name && x.spec.dtype == y.spec.dtype;
      });
}

// Whether the shapes of the same arrays differ in axis 0 only.
bool OnlyRowsDiffer(const std::vector<InputSlot>& a, const std::vector<InputSlot>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const InputSlot& x, const InputSlot& y) {
                      Shape same_rows = x.spec.shape;
                      if (same_rows.rank() > 0 && y.spec.shape.rank() > 0)
                        same_rows.set_dim(0, y.spec.shape.dim(0));
                      return same_rows == y.spec.shape;
                    });
}

// Checks that a model has the variables of another one, for other shapes.
absl::Status CheckVariables(const CompiledShape& shape, const CompiledShape& other) {
  const std::string here = ShapesText(shape.model->slots), there = ShapesText(other.model->slots);
  for (size_t i = 0; i < std::max(shape.variables.size(), other.variables.size()); ++i) {
    const auto name_in = [i](const CompiledShape& s) {
      return i < s.variables.size() ? absl::StrCat("'", s.variables[i].first, "'") : "none";
    };
    const std::string name = name_in(shape);
    if (name != name_in(other)) {
      return InvalidArgument("model_fn makes other variables for batches of ", here, " than for ",
                             there, ": variable ", i, " is ", name, ", not ", name_in(other),
                             "; batches of several shapes need the same variables in the same "
                             "order");
    }
    const TensorSpec &spec = shape.variables[i].second, &spec_there = other.variables[i].second;
    if (spec == spec_there) continue;
    return InvalidArgument("the variable ", name, " is ", spec.ToString(), " for batches of ", here,
                           ", but ", spec_there.ToString(), " for ", there,
                           ": batches of several shapes need a model whose variables do not depend "
                           "on them; pad all batches to one shape (.padded_shapes of PaddedBatch)");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CompiledShapes::CheckArrays(const StepInput& input, const CompiledShape& shape) const {
  const std::vector<InputSlot> slots = SlotsOf(input.replicas[0], mode_);
  if (SameArrays(slots, shape.model->slots)) return absl::OkStatus();
  return InvalidArgument("input_fn gave a batch with ", ShapesText(slots), "; earlier ones had ",
                         ShapesText(shape.model->slots),
                         ": batches may differ in shape, but not in names and dtypes");
}

absl::StatusOr<CompiledShapePtr> CompiledShapes::For(const StepInput& input, Backend& backend,
                                                     const Build& build) {
  for (auto shape = all_.begin(); shape != all_.end(); ++shape) {
    if ((*shape)->backend != &backend ||
        !HasSlots(input.replicas[0], (*shape)->model->slots, mode_))
      continue;
    all_.splice(all_.begin(), all_, shape);
    return all_.front();
  }
  return Add(input, build);
}

absl::StatusOr<CompiledShapePtr> CompiledShapes::Add(const StepInput& input, const Build& build) {
  const std::vector<InputSlot> slots = SlotsOf(input.replicas[0], mode_);
  const auto other = std::find_if(all_.begin(), all_.end(), [&slots](const auto& shape) {
    return SameArrays(slots, shape->model->slots);
  });
  absl::StatusOr<CompiledShapePtr> built = build();
  if (!built.ok()) {
    if (other == all_.end()) return built;
    return Annotate(built.status(),
                    absl::StrCat("the model for batches of another shape, ", ShapesText(slots)));
  }
  CompiledShape& shape = **built;
  for (const Variable& variable : shape.model->graph->variables())
    shape.variables.emplace_back(variable.name(), variable.spec());
  if (other != all_.end()) {
    EST_RETURN_IF_ERROR(CheckVariables(shape, **other));
    const bool is_last_batch = !input.full && OnlyRowsDiffer(slots, (*other)->model->slots);
    LOG_IF(INFO, max_shapes_ > 0 && !is_last_batch)
        << "Building the model again, for " << ModeName(mode_) << " batches of another shape ("
        << all_.size() + 1 << " of at most " << max_shapes_ << "): " << ShapesText(slots);
  }
  all_.push_front(*built);
  if (max_shapes_ > 0 && static_cast<int64_t>(all_.size()) > max_shapes_) DropOldest();
  return built;
}

void CompiledShapes::DropOldest() {
  LOG_IF(WARNING, !warned_)
      << "Batches have more than max_compiled_shapes = " << max_shapes_
      << " shapes, so programs are dropped and compiled again. Raise "
         "RunConfig.max_compiled_shapes, which takes memory, or give fewer shapes: "
         "BucketBySequenceLength with pad_to_bucket_boundary";
  warned_ = true;
  // Beside the list, only the newest one and that of the first batch are held.
  for (auto shape = all_.rbegin(); shape != all_.rend(); ++shape) {
    if (shape->use_count() > 1) continue;
    all_.erase(std::next(shape).base());
    return;
  }
}

}  // namespace estimator
