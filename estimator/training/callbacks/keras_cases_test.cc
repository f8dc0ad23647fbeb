// The callbacks against what Keras' did in the same epochs (testdata/callbacks/generate.py).
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/variable.h"
#include "estimator/training/callbacks.h"
#include "estimator/training/testing/fake_session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::callbacks {
namespace {

using nlohmann::json;
using ::testing::ElementsAreArray;

json Cases(const char* callback) {
  const json all = json::parse(ReadFile("testdata/callbacks/cases.json").value());
  return all.at(callback);
}

MonitorMode ModeOf(const json& options) {
  const auto mode = options.at("mode").get<std::string>();
  return mode == "min" ? MonitorMode::kMin : mode == "max" ? MonitorMode::kMax : MonitorMode::kAuto;
}

std::optional<double> Optional(const json& value) {
  return value.is_null() ? std::nullopt : std::optional<double>(value.get<double>());
}

// A session whose only weight is the number of the epoch, as in generate.py.
class Fit {
 public:
  explicit Fit(const HookPtr& hook) : callback_(dynamic_cast<Callback&>(*hook)), hook_(hook) {
    session_.dir = dir_.File("m");
    const GraphScope scope(session_.fake_graph);
    GetVariable("w", {}, {.dtype = DType::kFloat32});
  }
  // Returns the rate after each epoch, until the callback stops.
  std::vector<double> Run(const json& logs_of_epochs, int64_t num_replayed = 0) {
    std::vector<double> rates;
    Context context(session_);
    EST_EXPECT_OK(callback_.OnTrainBegin(context));
    int64_t epoch = 0;
    for (const json& entry : logs_of_epochs) {
      Logs logs;
      for (const auto& [name, value] : entry.items()) {
        logs[name] = value.is_null() ? std::nan("") : value.get<double>();
      }
      if (epoch < num_replayed) {
        logs["lr"] = rate_before_.at(static_cast<size_t>(epoch));
        EST_EXPECT_OK(callback_.OnEpochReplayed(context, epoch, logs));
      } else {
        rate_before_.push_back(*session_.LearningRate());
        EST_EXPECT_OK(callback_.OnEpochBegin(context, epoch));
        EST_EXPECT_OK(session_.store.Set("w", Array::Scalar(static_cast<float>(epoch))));
        EST_EXPECT_OK(callback_.OnEpochEnd(context, epoch, logs));
        rates.push_back(*session_.LearningRate());
      }
      ++epoch;
      if (context.stop_training()) break;
    }
    EST_EXPECT_OK(callback_.OnTrainEnd(context));
    return rates;
  }
  double weight() { return session_.store.Get("w")->AsDouble(); }
  const TempDir& dir() const { return dir_; }

 private:
  TempDir dir_;
  testing::FakeSession session_;
  Callback& callback_;
  const HookPtr hook_;
  std::vector<double> rate_before_;  // of each epoch
};

HookPtr PlateauOf(const json& options) {
  return ReduceLROnPlateau({.monitor = options.at("monitor"),
                            .factor = options.at("factor"),
                            .patience = options.at("patience"),
                            .mode = ModeOf(options),
                            .min_delta = options.at("min_delta"),
                            .cooldown = options.at("cooldown"),
                            .min_lr = options.at("min_lr")});
}

TEST(KerasCases, ReduceLROnPlateauReducesAtTheSameEpochs) {
  int num_reductions = 0;
  for (const json& test : Cases("ReduceLROnPlateau")) {
    const auto expected = test.at("rates").get<std::vector<double>>();
    EXPECT_EQ(Fit(PlateauOf(test.at("options"))).Run(test.at("logs")), expected)
        << test.at("options");
    num_reductions += expected.back() < expected.front();
  }
  EXPECT_GT(num_reductions, 30);
}

// Another process that continues after 10 epochs reduces as the first one does.
TEST(KerasCases, ReduceLROnPlateauContinuesFromTheHistory) {
  for (const json& test : Cases("ReduceLROnPlateau")) {
    const auto expected = test.at("rates").get<std::vector<double>>();
    const HookPtr hook = PlateauOf(test.at("options"));
    Fit fit(hook);
    json first = json::array(), all = test.at("logs");
    for (size_t i = 0; i < 10; ++i) first.push_back(all[i]);
    fit.Run(first);
    EXPECT_THAT(fit.Run(all, 10), ElementsAreArray(expected.begin() + 10, expected.end()))
        << test.at("options");
  }
}

TEST(KerasCases, EarlyStoppingStopsAtTheSameEpochAndRestoresTheSameWeights) {
  int num_stops = 0;
  for (const json& test : Cases("EarlyStopping")) {
    const json& options = test.at("options");
    Fit fit(EarlyStopping({.monitor = options.at("monitor"),
                           .min_delta = options.at("min_delta"),
                           .patience = options.at("patience"),
                           .mode = ModeOf(options),
                           .baseline = Optional(options.at("baseline")),
                           .restore_best_weights = true,
                           .start_from_epoch = options.at("start_from_epoch")}));
    EXPECT_EQ(fit.Run(test.at("logs")).size(), test.at("epochs").get<size_t>()) << options;
    EXPECT_EQ(fit.weight(), test.at("weights_of").get<double>()) << options;
    num_stops += test.at("epochs") < test.at("logs").size();
  }
  EXPECT_GT(num_stops, 30);
}

TEST(KerasCases, ModelCheckpointWritesTheSameFiles) {
  for (const json& test : Cases("ModelCheckpoint")) {
    const json& options = test.at("options");
    const TempDir dir;
    Fit fit(ModelCheckpoint(
        dir.File("best/" + test.at("pattern").get<std::string>()),
        {.monitor = options.at("monitor"),
         .save_best_only = options.at("save_best_only"),
         .save_weights_only = true,
         .mode = ModeOf(options),
         .initial_value_threshold = Optional(options.at("initial_value_threshold"))}));
    fit.Run(test.at("logs"));
    std::vector<std::string> expected;
    for (const auto& file : test.at("files").get<std::vector<std::string>>())
      expected.push_back(dir.File("best/" + file + ".index"));
    EXPECT_THAT(Glob(dir.File("best/*.index")).value(), ElementsAreArray(expected)) << options;
  }
}

TEST(KerasCases, CSVLoggerWritesTheSameBytes) {
  for (const json& test : Cases("CSVLogger")) {
    const TempDir dir;
    Fit fit(CSVLogger(dir.File("logs/log.csv"), {.separator = test.at("options").at("separator")}));
    fit.Run(test.at("logs"));
    EXPECT_EQ(ReadFile(dir.File("logs/log.csv")).value(), test.at("text").get<std::string>());
  }
}

}  // namespace
}  // namespace estimator::callbacks
