#include "tpu/rules/input_rules.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace estimator::tpu {
namespace {

// The steps whose shapes are compared: fewer, but at least one, if they are larger than a GiB.
constexpr int kStepsRead = 4;
// Where they differ, the shapes of so many steps are counted.
constexpr int kStepsCounted = 100;
constexpr int64_t kBytesRead = int64_t{1} << 30;
constexpr absl::string_view kReservedPrefix = "_concatenated_small_features_";

std::string Where(Mode mode, absl::string_view what) {
  return absl::StrCat(ModeName(mode), ": ", what);
}

// The batch axis of the array with this number.
int64_t AxisOf(absl::Span<const int64_t> batch_axis, size_t array) {
  return array < batch_axis.size() ? batch_axis[array] : 0;
}

int64_t BytesOf(const Element& element) {
  size_t bytes = 0;
  for (const ArrayMap* arrays : {&element.features, &element.labels}) {
    for (const auto& [name, array] : *arrays) bytes += array.num_bytes();
  }
  return static_cast<int64_t>(bytes);
}

void CheckSlots(Mode mode, const std::vector<InputSlot>& slots, Report& report) {
  for (const InputSlot& slot : slots) {
    if (absl::StartsWith(slot.name, kReservedPrefix)) {
      report.Add("reserved-feature", Where(mode, slot.ToString()),
                 absl::StrCat("the name begins with ", kReservedPrefix), "rename it in input_fn");
    }
    if (slot.spec.dtype == DType::kString) {
      report.Add("string", Where(mode, slot.ToString()),
                 absl::StrCat("it is ", slot.spec.ToString()),
                 "turn strings into numbers in input_fn, or leave them out");
    }
  }
}

// The shapes of batches that differ from the first ones.
class ShapeCount {
 public:
  explicit ShapeCount(std::vector<InputSlot> first) : first_(std::move(first)), shapes_{first_} {}
  bool several() const { return shapes_.size() > 1; }
  void Add(std::vector<InputSlot> slots, int step) {
    num_steps_ = step;
    if (std::find(shapes_.begin(), shapes_.end(), slots) != shapes_.end()) return;
    if (!several()) {
      where_ = "input_fn";
      what_ = "batches have different arrays";
      for (size_t i = 0; i < first_.size() && i < slots.size(); ++i) {
        if (first_[i] == slots[i]) continue;
        where_ = first_[i].ToString();
        what_ = absl::StrCat("it is ", first_[i].spec.ToString(), " in the first step and ",
                             slots[i].spec.ToString(), " in step ", step);
        break;
      }
    }
    shapes_.push_back(std::move(slots));
  }
  void ReportTo(Report& report, Mode mode) const {
    if (!several()) return;
    report.Add("dynamic-shape", Where(mode, where_),
               absl::StrCat(what_, "; the first ", num_steps_, " steps have ", shapes_.size(),
                            " shapes, and each is a program to compile"),
               "pad to one size in input_fn, with .padded_shapes of PaddedBatch, or to a few, with "
               ".pad_to_bucket_boundary of BucketBySequenceLength");
  }

 private:
  const std::vector<InputSlot> first_;
  std::vector<std::vector<InputSlot>> shapes_;
  int num_steps_ = 1;
  std::string where_, what_;  // the first difference
};

}  // namespace

void CheckSignature(const DatasetSignature& signature, Report& report) {
  if (!signature.spec.has_value()) return;
  size_t array = 0;
  const auto check = [&](absl::string_view kind, const ArraySpecMap& specs) {
    for (const auto& [name, spec] : specs) {
      const int64_t batch_axis = AxisOf(signature.batch_axis, array++);
      const std::string where = Where(signature.mode, QuotedComponent(kind, name));
      if (!spec.shape.has_value()) {
        report.Add("dynamic-shape", where, absl::StrCat("it is ", spec.ToString()),
                   "declare its shape in the output_signature of Map or FromGenerator");
        continue;
      }
      for (int axis = 0; axis < spec.shape->rank(); ++axis) {
        if (spec.shape->dims()[static_cast<size_t>(axis)] != Shape::kUnknownDim) continue;
        if (axis != batch_axis) {
          report.Add("dynamic-shape", where,
                     absl::StrCat("it is ", spec.ToString(), ", and axis ", axis, " is not known"),
                     "pad it to one size, with .padded_shapes of PaddedBatch, or declare it in an "
                     "output_signature");
          continue;
        }
        // An endless dataset has no last batch.
        const bool may_be_smaller =
            signature.mode == Mode::kTrain && signature.cardinality != Dataset::kInfinite;
        report.Add(may_be_smaller ? "partial-batch" : "open-batch", where,
                   absl::StrCat("it is ", spec.ToString(),
                                may_be_smaller ? ", and the last batch may be smaller"
                                               : ", although TensorFlow wants all sizes"),
                   signature.mode == Mode::kTrain
                       ? "call Batch(params.batch_size, {.drop_remainder = true})"
                       : "keep it here, where every example counts; for TensorFlow, call "
                         "Batch(params.batch_size, {.drop_remainder = true})");
      }
    }
  };
  check("features", signature.spec->features);
  if (signature.mode != Mode::kPredict) check("labels", signature.spec->labels);
}

std::optional<Element> CheckInput(const Strategy& strategy, Mode mode, const InputFn& input,
                                  Report& report) {
  DatasetSignature signature = {.mode = mode, .batch_axis = strategy.batch_axis(mode)};
  // What the dataset says of itself is known only while input_fn is called.
  const InputFn noting([&](const InputFn::Call& call) -> absl::StatusOr<Dataset> {
    absl::StatusOr<Dataset> dataset = input(call);
    if (dataset.ok()) {
      signature.spec = dataset->element_spec();
      signature.cardinality = dataset->Cardinality();
    }
    return dataset;
  });
  const auto fail = [&](absl::string_view what) {
    report.Add("input-error", Where(mode, "input_fn"), std::string(what),
               "correct input_fn; it is called with the batch size of the mode's input "
               "configuration in params.batch_size");
    return std::nullopt;
  };
  const absl::StatusOr<std::unique_ptr<Feeder>> feeder = strategy.OpenInput(mode, noting);
  if (!feeder.ok()) return fail(feeder.status().message());
  CheckSignature(signature, report);
  std::optional<Element> first;
  std::optional<ShapeCount> shapes;
  int64_t bytes = 0;
  const auto last_step = [&] { return shapes && shapes->several() ? kStepsCounted : kStepsRead; };
  for (int step = 1; step <= last_step() && bytes < kBytesRead; ++step) {
    absl::StatusOr<std::optional<StepInput>> next = (*feeder)->Next();
    if (!next.ok()) return fail(next.status().message());
    // A last batch that is not full runs through a program of its size.
    if (!next->has_value() || (first.has_value() && !(*next)->full)) break;
    for (Element& element : (*next)->replicas) {
      bytes += BytesOf(element);
      if (!first.has_value()) {
        first = std::move(element);
        shapes.emplace(SlotsOf(*first, mode));
        CheckSlots(mode, SlotsOf(*first, mode), report);
      } else {
        shapes->Add(SlotsOf(element, mode), step);
      }
    }
  }
  // The other rules are checked with the shapes of the first step.
  if (shapes) shapes->ReportTo(report, mode);
  if (!first.has_value()) return fail("the input is empty");
  return first;
}

Element WithRows(const Element& element, int64_t rows, absl::Span<const int64_t> batch_axis) {
  Element result;
  size_t number = 0;
  const auto resize = [&](const ArrayMap& from, ArrayMap& to) {
    for (const auto& [name, array] : from) {
      const auto axis = static_cast<int>(AxisOf(batch_axis, number++));
      Shape shape = array.shape();
      if (axis < shape.rank()) shape.set_dim(axis, rows);
      // The values do not matter: the model is built with these arrays, not run.
      to[name] = Array(array.dtype(), shape);
    }
  };
  resize(element.features, result.features);
  resize(element.labels, result.labels);
  return result;
}

}  // namespace estimator::tpu
