// Restoring reads every variable straight into its place, partitioned ones too: what it holds at
// its peak is little more than the variables.
#include <gtest/gtest.h>

#include "estimator/base/status.h"
#include "estimator/base/testing/child_memory.h"
#include "estimator/base/testing/memory.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/variable.h"
#include "estimator/training/model/model_state.h"
#include "estimator/training/warm_start/init_from_checkpoint.h"

namespace estimator {
namespace {

constexpr int64_t kRows = 1 << 15, kColumns = 256;  // 32 MiB of f32
constexpr double kBytes = 2.0 * kRows * kColumns * sizeof(float);

class RestoreMemoryTest : public ::testing::Test {
 protected:
  // "whole", and "parts": two halves that lie side by side.
  absl::Status Write() const {
    EST_ASSIGN_OR_RETURN(const auto writer, BundleWriter::Open(prefix_));
    const auto half_rows = [](const BundleWriter::Append& append) -> absl::Status {
      const std::string row(kColumns / 2 * sizeof(float), '\x3f');
      for (int64_t i = 0; i < kRows; ++i) EST_RETURN_IF_ERROR(append(row));
      return absl::OkStatus();
    };
    BundleWriter::Stored stored{.dtype_on_disk = static_cast<int>(DType::kFloat32),
                                .shape = {kRows, kColumns}};
    EST_RETURN_IF_ERROR(
        writer->AddStored("whole", stored, [&](const BundleWriter::Append& append) -> absl::Status {
          EST_RETURN_IF_ERROR(half_rows(append));
          return half_rows(append);
        }));
    for (const int64_t start : {int64_t{0}, kColumns / 2}) {
      stored.extents = {{}, {.start = start, .length = kColumns / 2}};
      EST_RETURN_IF_ERROR(writer->AddStored("parts", stored, half_rows));
    }
    return writer->Finish();
  }
  void SetUp() override {
    EST_ASSERT_OK(MeasureInChild([this] { return Write(); }));
  }
  void ExpectLittleMore(const std::function<absl::Status(Graph&, ModelState&)>& load) {
    const auto memory = MeasureInChild([&]() -> absl::Status {
      Graph graph;
      const GraphScope scope(graph);
      for (const char* const name : {"whole", "parts"}) GetVariable(name, {kRows, kColumns});
      ModelState state;
      EST_RETURN_IF_ERROR(load(graph, state));
      const Array* const parts = state.store().Peek("parts");
      return parts->data<float>()[kRows * kColumns - 1] > 0.7f
                 ? absl::OkStatus()
                 : absl::InternalError("these are not the values that were written");
    });
    EST_ASSERT_OK(memory);
    testing::ExpectGrowthBelow(memory->growth_bytes, static_cast<int64_t>(1.2 * kBytes));
  }

  const TempDir dir_;
  const std::string prefix_ = dir_.File("m");
};

TEST_F(RestoreMemoryTest, ARestoredModelHoldsAtMostAFifthMoreThanItsVariables) {
  ExpectLittleMore(
      [this](Graph& graph, ModelState& state) { return state.Restore(graph, prefix_, {}); });
}

TEST_F(RestoreMemoryTest, SoDoesAWarmStartedOne) {
  ExpectLittleMore([this](Graph& graph, ModelState& state) {
    return state.InitializeFresh(graph, {}, WarmStartSettings{.ckpt_to_initialize_from = prefix_});
  });
}

TEST_F(RestoreMemoryTest, SoDoesOneThatIsInitializedFromACheckpoint) {
  ExpectLittleMore([this](Graph& graph, ModelState& state) {
    train::InitFromCheckpoint(prefix_, {{"/", "/"}});
    EST_RETURN_IF_ERROR(graph.status());
    return state.InitializeFresh(graph, {}, std::nullopt);
  });
}

}  // namespace
}  // namespace estimator
