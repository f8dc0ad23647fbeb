// A server of HTTP for one page and its data, for this machine alone.
#ifndef TOOLS_REPORT_SERVE_H_
#define TOOLS_REPORT_SERVE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace estimator {

// Answers GET of "/" and of "/data.json" on a port of 127.0.0.1, one after another, until an
// interrupt, which is OK. A request whose Host is another name is refused: a page of the web that
// gives its own name this address could read the answer otherwise.
//   port: 0: a free one.  ready: gets the address, "http://127.0.0.1:8123/".
//   body: of the path "/" or "/data.json".
// Errors: UNAVAILABLE if the port cannot be had.
absl::Status Serve(int64_t port, const std::function<void(const std::string& url)>& ready,
                   const std::function<std::string(absl::string_view path)>& body);

}  // namespace estimator

#endif  // TOOLS_REPORT_SERVE_H_
