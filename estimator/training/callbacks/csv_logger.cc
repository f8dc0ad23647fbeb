#include "estimator/training/callbacks/csv_logger.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/training/callbacks/callback.h"

namespace estimator::callbacks {
namespace {

// That of Python's csv module.
constexpr char kLineEnd[] = "\r\n";

class CSVLoggerCallback : public Callback {
 public:
  CSVLoggerCallback(std::string filename, const CSVLoggerOptions& options)
      : filename_(std::move(filename)), options_(options) {}

  absl::Status OnTrainBegin(Context& context) override {
    keys_.clear();
    has_header_ = false;
    EST_ASSIGN_OR_RETURN(const bool exists, Exists(filename_));
    if (exists && (options_.append || context.resumed())) return Continue(context);
    if (!Dirname(filename_).empty()) EST_RETURN_IF_ERROR(CreateDirectories(Dirname(filename_)));
    EST_ASSIGN_OR_RETURN(const auto file, WritableFile::Open(filename_));
    return file->Close();
  }

  absl::Status OnEpochEnd(Context&, int64_t epoch, Logs& logs) override {
    std::string lines;
    if (keys_.empty()) SetKeys(logs);
    if (!has_header_) {
      absl::StrAppend(&lines, "epoch");
      for (const std::string& key : keys_) absl::StrAppend(&lines, options_.separator, key);
      absl::StrAppend(&lines, kLineEnd);
      has_header_ = true;
    }
    absl::StrAppend(&lines, epoch);
    for (const std::string& key : keys_) {
      const auto found = logs.find(key);
      absl::StrAppend(&lines, options_.separator,
                      found == logs.end() ? "NA" : NumberText(found->second));
    }
    absl::StrAppend(&lines, kLineEnd);
    EST_ASSIGN_OR_RETURN(const auto file,
                         WritableFile::Open(filename_, WritableFile::Mode::kAppend));
    EST_RETURN_IF_ERROR(file->Append(lines));
    return file->Close();
  }

 private:
  void SetKeys(const Logs& logs) {
    bool validated = false;
    for (const auto& [key, value] : logs) {
      keys_.push_back(key);
      validated |= absl::StartsWith(key, "val_");
    }
    const size_t num_keys = keys_.size();
    for (size_t i = 0; i < num_keys && !validated; ++i)
      keys_.push_back(absl::StrCat("val_", keys_[i]));
  }

  // Takes over a file, without the epochs that this process trains again.
  absl::Status Continue(const Context& context) {
    EST_ASSIGN_OR_RETURN(const std::string before, ReadFile(filename_));
    std::string kept;
    for (absl::string_view line : absl::StrSplit(before, '\n', absl::SkipEmpty())) {
      line = absl::StripSuffix(line, "\r");
      const std::vector<std::string> cells = absl::StrSplit(line, options_.separator);
      int64_t epoch = 0;
      if (absl::SimpleAtoi(cells[0], &epoch)) {
        if (context.resumed() && epoch >= context.first_epoch()) continue;
      } else if (context.resumed()) {
        keys_.assign(cells.begin() + 1, cells.end());
      }
      has_header_ = true;
      absl::StrAppend(&kept, line, kLineEnd);
    }
    return kept == before ? absl::OkStatus() : WriteFileAtomically(filename_, kept);
  }

  const std::string filename_;
  const CSVLoggerOptions options_;
  std::vector<std::string> keys_;
  bool has_header_ = false;
};

}  // namespace

HookPtr CSVLogger(const std::string& filename, const CSVLoggerOptions& options) {
  return std::make_shared<CSVLoggerCallback>(filename, options);
}

}  // namespace estimator::callbacks
