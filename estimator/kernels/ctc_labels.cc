#include "estimator/kernels/ctc_labels.h"

#include <algorithm>
#include <string>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/kernels/position.h"

namespace estimator {
namespace {

// The largest number of labels of an example. An example with more labels than steps has no path.
int64_t MaxLabels(const KernelSpec& spec, int64_t steps, int64_t batch) {
  const int64_t rows = spec.inputs[1].shape[0];
  int64_t most = rows;
  if (spec.constants.size() > 1 && spec.constants[1].has_value()) {
    std::vector<int64_t> counts(static_cast<size_t>(batch));
    const int64_t* const indices = spec.constants[1]->data<int64_t>();
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t b = indices[2 * i];
      if (b >= 0 && b < batch) ++counts[static_cast<size_t>(b)];  // others fail in Read
    }
    most = batch == 0 ? 0 : *std::max_element(counts.begin(), counts.end());
  }
  return std::min(most, steps);
}

}  // namespace

CtcSizes::CtcSizes(const KernelSpec& spec)
    : steps(spec.inputs[0].shape[0]),
      batch(spec.inputs[0].shape[1]),
      classes(spec.inputs[0].shape[2]),
      num_labels(spec.inputs[1].shape[0]),
      max_labels(MaxLabels(spec, steps, batch)),
      collapse(spec.attrs.b("preprocess_collapse_repeated")),
      merge(spec.attrs.b("ctc_merge_repeated")),
      ignore_longer(spec.attrs.b("ignore_longer_outputs_than_inputs")) {}

size_t CtcSizes::scratch_bytes() const {
  return AlignedBytes(static_cast<size_t>(num_labels) * sizeof(int32_t)) +
         AlignedBytes(static_cast<size_t>(batch + 1) * (sizeof(int64_t) + 1));
}

CtcLabels::CtcLabels(const CtcSizes& sizes, void* memory)
    : sizes_(sizes),
      values_(static_cast<int32_t*>(memory)),
      begins_(reinterpret_cast<int64_t*>(
          static_cast<char*>(memory) +
          AlignedBytes(static_cast<size_t>(sizes.num_labels) * sizeof(int32_t)))),
      ignored_(reinterpret_cast<bool*>(begins_ + sizes.batch + 1)) {}

absl::Status CtcLabels::Read(const KernelArgs& args) {
  const int64_t* const indices = args.in<int64_t>(1);
  const int32_t* const values = args.in<int32_t>(2);
  steps_ = args.in<int32_t>(3);
  const auto example_text = [&](int64_t b) {
    return PositionText("example ", b, sizes_.batch, args.step);
  };
  int64_t row = 0, count = 0;
  for (int64_t b = 0; b < sizes_.batch; ++b) {
    begins_[b] = count;
    if (steps_[b] < 0 || steps_[b] > sizes_.steps)
      return InvalidArgument(example_text(b), " has sequence_length ", steps_[b],
                             ", but the logits have ", sizes_.steps,
                             " steps: lengths must be in [0, ", sizes_.steps, "]");
    bool padding = false;
    int64_t given = 0;  // labels, before repeated ones are collapsed: each needs a step
    for (const int64_t first = row; row < sizes_.num_labels && indices[2 * row] == b; ++row) {
      if (row > first && indices[2 * row + 1] <= indices[2 * row - 1])
        return InvalidArgument(example_text(b), " has the label of position ", indices[2 * row + 1],
                               " after that of position ", indices[2 * row - 1],
                               ": sort labels_indices");
      const int32_t label = values[row];
      if (label < 0 || label >= sizes_.classes)
        return InvalidArgument(example_text(b), " has label ", label, ", but there are ",
                               sizes_.classes, " classes: labels must be in [0, ", sizes_.blank(),
                               "), because the last class is the blank");
      if (label != sizes_.blank() && padding)
        return InvalidArgument(example_text(b), " has label ", label,
                               " after padding; the class of the blank, ", sizes_.blank(),
                               ", ends the labels");
      padding = label == sizes_.blank();
      if (padding) continue;
      ++given;
      if (sizes_.collapse && row > first && label == values[row - 1]) continue;
      values_[count++] = label;
    }
    if (given > steps_[b] && !sizes_.ignore_longer)
      return InvalidArgument(example_text(b), " has ", given, " labels, but only ", steps_[b],
                             " steps (sequence_length): each label needs a step; leave the "
                             "example out, or set ignore_longer_outputs_than_inputs");
    ignored_[b] = given > steps_[b];
  }
  begins_[sizes_.batch] = count;
  if (row < sizes_.num_labels)
    return InvalidArgument("row ", row, " of labels_indices is of example ", indices[2 * row],
                           ", but the batch has ", sizes_.batch,
                           " examples, and rows are sorted by example");
  return absl::OkStatus();
}

CtcExample CtcLabels::example(int64_t b) const {
  return {steps_[b],
          {values_ + begins_[b], static_cast<size_t>(begins_[b + 1] - begins_[b])},
          ignored_[b]};
}

}  // namespace estimator
