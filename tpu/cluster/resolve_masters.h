// ResolveMasters: which devices RunConfig.master, RunConfig.cluster and TF_CONFIG choose.
#ifndef TPU_CLUSTER_RESOLVE_MASTERS_H_
#define TPU_CLUSTER_RESOLVE_MASTERS_H_

#include "absl/status/status.h"
#include "estimator/training/task_config.h"
#include "tpu/tpu_config.h"

namespace estimator::tpu {

// Completes the config of a run with use_tpu = true:
//   master              that of `cluster`: its plugin if the TPU is attached to this machine; else
//                       `session_master` of TF_CONFIG if it is empty
//   evaluation_master   `eval_session_master` of TF_CONFIG if it is empty; else `master`, unless
//   the
//                       task is an evaluator
//   tpu_config.num_shards     that of the TPU of `cluster`
//   tpu_config.tpu_job_name   as TPUJobName says, with service.tpu_worker_job_name of TF_CONFIG if
//                       it is empty
// Errors: INVALID_ARGUMENT if `master` and `cluster` are both given, or if num_shards is not the
// number of replicas of `cluster`; errors of TPUClusterResolver and DetectAccelerator;
// UNIMPLEMENTED as of CannotDrive if a master is another machine, and if evaluation_master names
// other devices than master.
// Source: TF 2.15 tf.estimator.tpu.RunConfig.
absl::Status ResolveMasters(const TaskConfig& task, RunConfig& config);
// The same with the task of TF_CONFIG.
absl::Status ResolveMasters(RunConfig& config);

}  // namespace estimator::tpu

#endif  // TPU_CLUSTER_RESOLVE_MASTERS_H_
