// A GoogleMock matcher that compares a model_fn with a reference. The whole test of a ported model
// is:
//
//   TEST(MyModel, ComputesWhatTensorFlowDid) {
//     EXPECT_THAT(ModelFn, replay::MatchesReference("models/mine/testdata/reference"));
//   }
//
// with deps = ["//tools/replay:matcher", ...] and the folder in the test's data. A failure names
// the first step, tensor and element that differ; see replay.h.
#ifndef TOOLS_REPLAY_MATCHER_H_
#define TOOLS_REPLAY_MATCHER_H_

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <type_traits>
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

  // model_fn: any that the estimators take, or a Model with params.
  template <typename ModelFn>
  bool MatchAndExplain(const ModelFn& model_fn, ::testing::MatchResultListener* listener) const {
    static_assert(std::is_convertible_v<ModelFn, Model>,
                  "MatchesReference takes a model_fn, or replay::Model::Of<MyParams>(model_fn) for "
                  "a lambda with `auto` parameters");
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

// Matches a model whose numbers are those of the reference.
//   folder: relative to the root of the repository, in which tests run, or absolute.
inline ::testing::PolymorphicMatcher<ReferenceMatcher> MatchesReference(
    absl::string_view folder, const ReplayOptions& options = {}) {
  return ::testing::MakePolymorphicMatcher(ReferenceMatcher(std::string(folder), options));
}

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_MATCHER_H_
