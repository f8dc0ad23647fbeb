#include "tools/tfrecord/label_statistics.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/records/progress_bar.h"
#include "tools/tfrecord/feature_text.h"

namespace estimator {

absl::StatusOr<std::string> LabelStatistics(const std::vector<std::string>& files,
                                            InputCompression compression,
                                            const StatsOptions& options) {
  struct Label {
    int64_t count = 0;
    std::string text;
  };
  // Numbers are sorted as numbers; the text distinguishes labels of bytes.
  std::map<std::pair<double, std::string>, Label> labels;
  int64_t records = 0, values = 0, without = 0, several = 0;
  absl::Status missing;
  ProgressBar progress("records", 0);
  for (const std::string& path : files) {
    EST_RETURN_IF_ERROR(ForEachRecord(path, compression, [&](const Record& record) -> absl::Status {
      EST_ASSIGN_OR_RETURN(const proto::Example example, ParseExampleRecord(record));
      ++records;
      progress.Add(1);
      const auto& features = example.features().feature();
      const auto found = features.find(options.label_key);
      const int64_t size = found == features.end() ? 0 : FeatureSize(found->second);
      if (found == features.end() && missing.ok()) {
        missing = BytesOfKey(record, example, options.label_key).status();
      }
      if (size == 0) ++without;
      if (size > 1) ++several;
      const auto text = features.find(options.text_key);
      for (int64_t i = 0; i < size; ++i) {
        const std::string value = FeatureValueText(found->second, i);
        const bool bytes = found->second.kind_case() == proto::Feature::kBytesList;
        Label& label = labels[{bytes ? 0 : std::strtod(value.c_str(), nullptr), value}];
        ++label.count;
        ++values;
        if (size == 1 && label.text.empty() && text != features.end() &&
            text->second.bytes_list().value_size() > 0) {
          label.text = absl::CEscape(text->second.bytes_list().value(0));
        }
      }
      return absl::OkStatus();
    }));
  }
  progress.Finish();
  if (labels.empty() && !missing.ok()) {
    return Annotate(missing, "no record has the label; pass --label_key");
  }
  std::vector<std::vector<std::string>> rows = {{"label", "count", "share", "text"}};
  int64_t least = 0, most = 0;
  for (const auto& [key, label] : labels) {
    least = rows.size() == 1 ? label.count : std::min(least, label.count);
    most = std::max(most, label.count);
    if (static_cast<int64_t>(rows.size()) > options.max_rows) continue;
    rows.push_back({key.second, absl::StrCat(label.count),
                    absl::StrFormat("%.2f%%", 100.0 * static_cast<double>(label.count) /
                                                  static_cast<double>(values)),
                    label.text});
  }
  std::string text = FormatTable(rows);
  if (labels.size() + 1 > rows.size()) {
    absl::StrAppend(&text, "... and ", labels.size() + 1 - rows.size(), " more labels\n");
  }
  absl::StrAppend(&text, records, " records, ", labels.size(), " labels");
  if (!labels.empty()) {
    absl::StrAppend(&text, ", the rarest ", least, " times, the most frequent ", most, " times");
  }
  if (without > 0) absl::StrAppend(&text, "; ", without, " records without a label");
  if (several > 0) absl::StrAppend(&text, "; ", several, " records with several labels");
  return absl::StrCat(text, "\n");
}

}  // namespace estimator
