#include "estimator/training/hooks/learning_rate_plot_hook.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/image/line_chart.h"
#include "estimator/image/png/png.h"
#include "estimator/nn/train/settable_rate.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/training/hooks/evaluate_tensors.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr int64_t kMaxPlotPoints = 1000;

}  // namespace

absl::Status LearningRatePlotHook::AfterCreateSession(Session& session) {
  const int64_t first = session.global_step(), last = options_.target_step - 1;
  if (options_.target_step == std::numeric_limits<int64_t>::max()) {
    return InvalidArgument(
        "plot_learning_rate: the number of steps is not known; give Train MaxSteps or Steps");
  }
  if (last < first) return absl::OkStatus();
  const std::vector<Tensor> rates = train::LearningRates(*graph_);
  if (rates.empty()) return FailedPrecondition("plot_learning_rate: train_op has no learning rate");
  EST_RETURN_IF_ERROR(Annotate(CheckNeedsNoInput(rates), "plot_learning_rate"));

  const int64_t num_points = std::min(kMaxPlotPoints, last - first + 1);
  const auto step_of = [&](int64_t point) {
    return num_points == 1 ? first : first + point * (last - first) / (num_points - 1);
  };
  // The schedule reads global_step, so a step that is fed with other numbers computes their rates.
  const std::unique_ptr<Backend> backend = MakeCpuBackend(session.variables());
  const Variable global_step = *graph_->GlobalStep();
  EST_ASSIGN_OR_RETURN(
      const std::unique_ptr<Executable> program,
      backend->Compile(*graph_, {.feeds = {global_step.read()}, .fetches = rates, .updates = {}}));
  image::LineChart chart{.title = "learning rate",
                         .x_label = options_.steps_per_epoch > 0 ? "epoch" : "step"};
  chart.curves.resize(rates.size());
  int64_t fed = 0;
  const Infeed infeed = [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
    const Array step = Array::Scalar<int64_t>(step_of(fed++));
    return StepFeeds{{step.Cast(global_step.dtype())}};
  };
  const Outfeed outfeed = [&](int64_t point, const StepFetches& fetches) {
    const auto step = static_cast<double>(step_of(point));
    for (size_t i = 0; i < rates.size(); ++i) {
      const double x = options_.steps_per_epoch > 0 ? step / options_.steps_per_epoch : step;
      chart.curves[i].emplace_back(x, fetches[0][i].AsDouble());
    }
    return absl::OkStatus();
  };
  EST_RETURN_IF_ERROR(program->RunLoop(num_points, infeed, outfeed).status());
  EST_ASSIGN_OR_RETURN(const Array picture, image::DrawLineChart(chart));
  EST_ASSIGN_OR_RETURN(const std::string png, image::EncodePng(picture));
  EST_RETURN_IF_ERROR(WriteFileAtomically(options_.path, png));
  LOG(INFO) << "The learning rate of steps " << first << " to " << last << " is drawn in "
            << options_.path;
  return absl::OkStatus();
}

}  // namespace estimator
