#include "tools/replay/testing/tiny_reference.h"

#include <cstdint>
#include <memory>

#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "glog/logging.h"

namespace estimator::replay::testing {
namespace {

absl::Status WriteBundle(const std::string& prefix, const std::map<std::string, Array>& arrays) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleWriter> writer, BundleWriter::Open(prefix));
  for (const auto& [name, array] : arrays) EST_RETURN_IF_ERROR(writer->Add(name, array));
  return writer->Finish();
}

void Check(const absl::Status& status) { CHECK(status.ok()) << status; }

}  // namespace

TinyReference::TinyReference()
    : manifest(R"(
description: "one weight"
made_by: "Paper 1.0"
mode: TRAIN
num_steps: 3
initial_checkpoint: "initial"
batches: "batches"
expected: "results"
)"),
      initial{{"w", Array::Scalar(1.0f)}, {"global_step", Array::Scalar<int64_t>(0)}},
      batches{{"features/x", Array::Of<float>({1, 2}, {1, 2})},
              {"labels", Array::Of<float>({1, 2}, {2, 4})}},
      expected{{"forward/prediction/0", Array::Of<float>({2}, {1, 2})},
               {"forward/error/0", Array::Of<float>({2}, {-1, -2})},
               {"loss", Array::Of<float>({3}, {2.5, 0.625, 0.15625})},
               {"gradient/w", Array::Scalar(-5.0f)},
               {"step_1/w", Array::Scalar(1.5f)},
               {"norm/w", Array::Of<double>({3}, {1.5, 1.75, 1.875})},
               {"final/w", Array::Scalar(1.875f)},
               {"final/global_step", Array::Scalar<int64_t>(3)}} {}

void TinyReference::Write(absl::string_view folder) const {
  Check(CreateDirectories(folder));
  Check(WriteFileAtomically(JoinPath(folder, "reference.textproto"), manifest));
  Check(WriteBundle(JoinPath(folder, "initial"), initial));
  Check(WriteBundle(JoinPath(folder, "batches"), batches));
  Check(WriteBundle(JoinPath(folder, "results"), expected));
}

}  // namespace estimator::replay::testing
