// TPUClusterResolver: finds the TPU that a name, an address or the environment describes.
//
//   tpu::TPUClusterResolver resolver{.tpu = FLAGS_tpu, .zone = FLAGS_tpu_zone};
//   absl::StatusOr<tpu::TPUCluster> cluster = resolver.Resolve();
#ifndef TPU_CLUSTER_TPU_CLUSTER_RESOLVER_H_
#define TPU_CLUSTER_TPU_CLUSTER_RESOLVER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tpu/cluster/machine.h"

namespace estimator::tpu {

// A TPU that was found.
struct TPUCluster {
  std::string name = "";  // "my-tpu", or "local"
  // Whether its chips are attached to this machine, as on a Cloud TPU VM.
  bool local = false;
  // The addresses of the workers in their order: "10.0.0.2:8470". A local TPU has those of its
  // hosts, without ports, or none if they are not known.
  std::vector<std::string> workers = {};
  std::string accelerator_type = "";  // "v3-8"; "" if it is not known
  std::string source = "";            // for messages: where the address is from

  // "local", or the address of the first worker: "grpc://10.0.0.2:8470".
  std::string Master() const;
  // {job_name: workers}; empty if the TPU is local.
  std::map<std::string, std::vector<std::string>> ClusterSpec(const std::string& job_name) const;
};

// Source: TF 2.15 tf.distribute.cluster_resolver.TPUClusterResolver and cloud_tpu_client.
struct TPUClusterResolver {
  // A name; an address "grpc://HOST[:PORT]" or a list of them, separated by commas; "local" for the
  // TPU of this machine. Empty: the first of these that is set gives it:
  //   KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS   addresses
  //   TPU_NAME                          as this field
  //   TPU_CONFIG                        {"tpu_node_name": ..., "project": ..., "zone": ...}
  //   TPU_WORKER_HOSTNAMES              the hosts of the TPU VM that this machine is part of
  //   the metadata server               the same
  std::string tpu = "";
  // Where the TPU API looks for a name. Empty: those of this machine, from the metadata server.
  std::string zone = "";
  std::string project = "";
  std::string job_name = "worker";  // of the workers in ClusterSpec
  Machine machine = {};

  // A name becomes an address through the TPU API (GET v1/projects/P/locations/Z/nodes/NAME),
  // unless it is the name of this TPU VM. The API's endpoint is that of TPU_API_DISCOVERY_URL,
  // which must be http here: an https endpoint is an error that says what to do instead. The
  // metadata server is GCE_METADATA_IP, GCE_METADATA_HOST or metadata.google.internal. Errors:
  // NOT_FOUND if nothing names a TPU, or if the API does not know the name; FAILED_PRECONDITION if
  // the TPU is not ready; INVALID_ARGUMENT for a malformed address or TPU_CONFIG; errors of
  // HttpGet.
  absl::StatusOr<TPUCluster> Resolve() const;
};

}  // namespace estimator::tpu

#endif  // TPU_CLUSTER_TPU_CLUSTER_RESOLVER_H_
