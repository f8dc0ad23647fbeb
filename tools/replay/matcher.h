// A GoogleMock matcher that holds a model_fn against a reference. The whole test of a ported model:
//
//   TEST(MyModel, ComputesWhatTensorFlowDid) {
//     EXPECT_THAT(ModelFn, replay::MatchesReference("models/mine/testdata/reference"));
//   }
//
// with deps = ["//tools/replay:matcher", ...] and the folder in the test's data. A failure says in
// which step, in which tensor and where in it the numbers part; see replay.h.
#ifndef TOOLS_REPLAY_MATCHER_H_
#define TOOLS_REPLAY_MATCHER_H_

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/replay/model.h"
#include "tools/replay/replay.h"

namespace estimator::replay {

class ReferenceMatcher {
 public:
  ReferenceMatcher(std::string folder, ReplayOptions options)
      : folder_(std::move(folder)), options_(std::move(options)) {}

  // Anything that converts to a Model: a model_fn, or a Model with params.
  template <typename ModelFn>
  bool MatchAndExplain(const ModelFn& model_fn, ::testing::MatchResultListener* listener) const {
    const absl::StatusOr<ReplayReport> report = Replay(Model(model_fn), folder_, options_);
    if (!report.ok()) {
      *listener << "the replay failed: " << report.status();
      return false;
    }
    *listener << report->ToString();
    return report->ok();
  }
  void DescribeTo(std::ostream* out) const { *out << "matches the reference run " << folder_; }
  void DescribeNegationTo(std::ostream* out) const {
    *out << "differs from the reference run " << folder_;
  }

 private:
  std::string folder_;
  ReplayOptions options_;
};

// folder: relative to the root of the repository (a test's directory), or absolute.
inline ::testing::PolymorphicMatcher<ReferenceMatcher> MatchesReference(
    absl::string_view folder, const ReplayOptions& options = {}) {
  return ::testing::MakePolymorphicMatcher(ReferenceMatcher(std::string(folder), options));
}

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_MATCHER_H_
