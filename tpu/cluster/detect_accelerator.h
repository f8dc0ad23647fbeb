// DetectAccelerator: finds a TPU or a GPU before an Estimator exists, so that a program can compute
// its batch size and its learning rate from the number of replicas:
//
//   absl::StatusOr<tpu::Accelerator> accelerator = tpu::DetectAccelerator();
//   if (!accelerator.ok()) return accelerator.status();
//   const int64_t batch_size = 16 * accelerator->num_replicas;
//   accelerator->Configure(config);
//   tpu::TPUEstimator<MyParams> estimator({.model_fn = ModelFn, .config = config,
//                                          .use_tpu = accelerator->use_tpu(),
//                                          .train_batch_size = batch_size});
#ifndef TPU_CLUSTER_DETECT_ACCELERATOR_H_
#define TPU_CLUSTER_DETECT_ACCELERATOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tpu/cluster/machine.h"
#include "tpu/tpu_config.h"

namespace estimator::tpu {

// What a program runs on.
struct Accelerator {
  enum class Kind { kCpu, kGpu, kTpu };
  Kind kind = Kind::kCpu;
  int64_t num_replicas = 1;  // TPU cores or chips, or GPUs; 1 on the CPU
  // For RunConfig.master: "pjrt:/lib/libtpu.so", the plugin that drives the devices; "" on the CPU.
  std::string master = "";
  std::string description = "CPU";  // "TPU v3-8: 4 chips, /lib/libtpu.so"
  // Why faster devices are not used, one sentence each: "there are TPU chips, but no libtpu.so ..."
  std::vector<std::string> notes = {};

  // For TPUEstimator's option of that name: the CPU runs the model without replicas.
  bool use_tpu() const { return kind != Kind::kCpu; }
  // Sets `master` and `tpu_config.num_shards`.
  void Configure(RunConfig& config) const;
};

struct DetectAcceleratorOptions {
  // As in TPUClusterResolver. If `tpu` is given, only that TPU will do: another result is an error.
  std::string tpu = "";
  std::string zone = "";
  std::string project = "";
  std::string libtpu = "";  // path of libtpu.so; empty: TPU_LIBRARY_PATH, or the usual places
  // Path of the PJRT plugin for GPUs (JAX's xla_cuda_plugin.so). Empty: the one that is named cuda,
  // rocm or gpu in PJRT_NAMES_AND_LIBRARY_PATHS ("cuda:/path/xla_cuda_plugin.so").
  std::string gpu_plugin = "";
  Machine machine = {};
};

// Looks for these, in this order, and logs what it found and how many replicas there are:
//   TPU   the TPU that the options or the environment name (TPUClusterResolver), or the chips of
//         this machine; with libtpu.so and a device node
//   GPU   the devices /dev/nvidia0, ... of which CUDA_VISIBLE_DEVICES lists the usable ones; with a
//         PJRT plugin
//   CPU   otherwise
// Errors: UNIMPLEMENTED for a TPU on another machine, and for a slice of several hosts, which this
// program cannot drive; NOT_FOUND if a TPU is named that is not usable here; errors of
// TPUClusterResolver. Each says what to do.
absl::StatusOr<Accelerator> DetectAccelerator(const DetectAcceleratorOptions& options = {});

}  // namespace estimator::tpu

#endif  // TPU_CLUSTER_DETECT_ACCELERATOR_H_
