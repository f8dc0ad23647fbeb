// Sums over processes on several machines: Gloo's TCP transport, with an order of sums of our own.
#ifndef ESTIMATOR_DISTRIBUTED_GLOO_MESH_H_
#define ESTIMATOR_DISTRIBUTED_GLOO_MESH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/dtype.h"
#include "estimator/distributed/membership.h"

namespace estimator {

// A connection between every two processes, and the thread of Gloo that serves them.
class GlooMesh {
 public:
  // Collective.
  //   local_host: an address of this machine that the others reach.
  // Errors: those of the membership, which this function also reports to it.
  static absl::StatusOr<std::unique_ptr<GlooMesh>> Connect(Membership& members, int rank, int size,
                                                           const std::string& local_host,
                                                           double timeout_secs);
  virtual ~GlooMesh() = default;
  // As ProcessGroup::AllReduceSum. Rank r sums part r of the buffer, which the others send it, and
  // sends them the result: each rank sends and receives 2 (size - 1) / size of a buffer, whatever
  // the size. Parts are sent in chunks, so that receiving, summing and sending overlap. Needs
  // scratch memory for (size - 1) / size of a buffer.
  virtual absl::Status AllReduceSum(DType dtype, const void* input, void* output,
                                    int64_t count) = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_DISTRIBUTED_GLOO_MESH_H_
