// HttpGet: reads a small document by plain HTTP. For the metadata server of a virtual machine.
#ifndef TPU_CLUSTER_HTTP_GET_H_
#define TPU_CLUSTER_HTTP_GET_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"

namespace estimator::tpu {

struct HttpGetOptions {
  std::vector<std::pair<std::string, std::string>> headers = {};  // {"Metadata-Flavor", "Google"}
  double timeout_seconds = 5;                                     // for the whole answer
};

// The body of the answer to GET. The connection is closed after it, so the protocol is HTTP/1.0.
//   url: http://HOST[:PORT][/PATH]; HOST is a name, an IPv4 address, or an IPv6 address in [].
// Errors: NOT_FOUND for status 404; PERMISSION_DENIED for 401 and 403; UNAVAILABLE for any other
// status but 200, and if the host cannot be reached; DEADLINE_EXCEEDED after the timeout;
// UNIMPLEMENTED for https; INVALID_ARGUMENT for another URL; RESOURCE_EXHAUSTED for more than 1
// MiB. Each names the URL.
absl::StatusOr<std::string> HttpGet(StringArg url, const HttpGetOptions& options = {});

}  // namespace estimator::tpu

#endif  // TPU_CLUSTER_HTTP_GET_H_
