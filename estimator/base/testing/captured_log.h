// CapturedLog collects the messages that are logged while it lives.
#ifndef ESTIMATOR_BASE_TESTING_CAPTURED_LOG_H_
#define ESTIMATOR_BASE_TESTING_CAPTURED_LOG_H_

#include <mutex>
#include <string>
#include <vector>

#include "glog/logging.h"

namespace estimator::testing {

class CapturedLog : public google::LogSink {
 public:
  CapturedLog() { google::AddLogSink(this); }
  ~CapturedLog() override { google::RemoveLogSink(this); }

  void send(google::LogSeverity severity, const char*, const char*, int,
            const google::LogMessageTime&, const char* message, size_t size) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    (severity == google::GLOG_INFO ? infos : warnings).emplace_back(message, size);
  }

  std::vector<std::string> infos, warnings;  // warnings and worse

 private:
  std::mutex mutex_;  // several threads may log
};

}  // namespace estimator::testing

#endif  // ESTIMATOR_BASE_TESTING_CAPTURED_LOG_H_
