#include "estimator/training/hooks/summary_saver_hook.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "estimator/base/saturating.h"
#include "estimator/base/status.h"
#include "estimator/summary/event_file_writer.h"

namespace estimator {
namespace {

absl::Status WriteSummary(const SummaryRequest& request, const Array& value, int64_t step,
                          EventFileWriter& writer) {
  switch (request.kind) {
    case SummaryRequest::Kind::kScalar:
      return writer.AddScalar(request.tag, static_cast<float>(value.AsDouble()), step);
    case SummaryRequest::Kind::kHistogram:
      return writer.AddHistogram(request.tag, value, step);
    case SummaryRequest::Kind::kImage:
      break;
  }
  const int64_t count = std::min<int64_t>(request.max_outputs, value.shape().dim(0));
  for (int64_t i = 0; i < count; ++i) {
    const Array image = value.Row(i);
    // TensorFlow's tags: a summary of one image has no number.
    const std::string tag = request.max_outputs == 1 ? absl::StrCat(request.tag, "/image")
                                                     : absl::StrCat(request.tag, "/image/", i);
    EST_RETURN_IF_ERROR(writer.AddImage(
        tag, image.dtype() == DType::kUint8 ? image : image.Cast(DType::kFloat32), step));
  }
  return absl::OkStatus();
}

}  // namespace

SummarySaverHook::SummarySaverHook(Options options)
    : options_(std::move(options)), timer_(options_.cadence, options_.clock) {}

absl::Status SummarySaverHook::Begin(Graph& graph) {
  EST_RETURN_IF_ERROR(options_.cadence.Validate("SummarySaverHook"));
  timer_.Reset();
  step_increment_ = 1;
  requests_ = graph.summaries();
  const bool has_loss =
      std::any_of(requests_.begin(), requests_.end(), [](const SummaryRequest& r) {
        return r.kind == SummaryRequest::Kind::kScalar && r.tag == "loss";
      });
  // A scalar "loss" of the user's takes the place of this one.
  if (options_.loss.valid() && !has_loss) {
    requests_.push_back(
        {.kind = SummaryRequest::Kind::kScalar, .tag = "loss", .value = options_.loss});
  }
  return absl::OkStatus();
}

// The training loop starts the session in model_dir.
absl::Status SummarySaverHook::AfterCreateSession(Session& session) {
  if (!options_.output_dir.empty()) StartEventSession(options_.output_dir, session.global_step());
  return absl::OkStatus();
}

std::vector<Tensor> SummarySaverHook::Fetches() {
  std::vector<Tensor> tensors;
  for (const SummaryRequest& request : requests_) tensors.push_back(request.value);
  return tensors;
}

std::vector<Tensor> SummarySaverHook::BeforeRun(RunContext& context) {
  const int64_t advance = SaturatingMultiply(context.session().steps_per_run(), step_increment_);
  if (timer_.BeginRun(SaturatingAdd(context.global_step(), advance))) return Fetches();
  return {};
}

absl::Status SummarySaverHook::AfterRun(RunContext& context, const RunValues& values) {
  // A train_op may add more than 1 to global_step. The run may then end later than BeforeRun
  // assumes, but the first run writes in any case.
  if (values.num_steps > 0) {
    step_increment_ =
        std::max(step_increment_, (values.global_step - context.global_step()) / values.num_steps);
  }
  if (!timer_.EndRun(values.global_step)) return absl::OkStatus();
  timer_.UpdateLastTriggeredStep(values.global_step);
  EST_ASSIGN_OR_RETURN(
      const std::shared_ptr<EventFileWriter> writer,
      EventFileWriter::ForDirectory(options_.output_dir.empty() ? context.session().model_dir()
                                                                : options_.output_dir));
  for (size_t i = 0; i < requests_.size(); ++i) {
    EST_RETURN_IF_ERROR(WriteSummary(requests_[i], values.results[i], values.global_step, *writer));
  }
  return writer->FlushSometimes();
}

absl::Status SummarySaverHook::End(Session& session) {
  EST_ASSIGN_OR_RETURN(
      const std::shared_ptr<EventFileWriter> writer,
      EventFileWriter::ForDirectory(options_.output_dir.empty() ? session.model_dir()
                                                                : options_.output_dir));
  return writer->Flush();
}

}  // namespace estimator
