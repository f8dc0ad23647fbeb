// HttpStandIn: a small HTTP server of a test, on a free port of 127.0.0.1.
#ifndef TPU_CLUSTER_TESTING_HTTP_STAND_IN_H_
#define TPU_CLUSTER_TESTING_HTTP_STAND_IN_H_

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace estimator::tpu {

class HttpStandIn {
 public:
  // Answers GET of each path with its body, and of any other path with status 404.
  //   header: a header such as "Metadata-Flavor: Google" that each request must have; else the
  //   answer is status 403.
  //   ipv6: listens on ::1. REQUIRES: HasIPv6().
  explicit HttpStandIn(std::map<std::string, std::string> bodies, std::string header = "",
                       bool ipv6 = false);
  // Ends the server's thread.
  ~HttpStandIn();
  HttpStandIn(const HttpStandIn&) = delete;
  HttpStandIn& operator=(const HttpStandIn&) = delete;

  // Whether this machine has the address ::1.
  static bool HasIPv6();

  // "127.0.0.1:PORT", or "[::1]:PORT"
  const std::string& address() const { return address_; }
  // The requests so far, each with its headers.
  std::vector<std::string> requests() const;

 private:
  void Serve();
  void Answer(int connection);

  const std::map<std::string, std::string> bodies_;
  const std::string header_;
  std::string address_;
  int listener_ = -1;
  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace estimator::tpu

#endif  // TPU_CLUSTER_TESTING_HTTP_STAND_IN_H_
