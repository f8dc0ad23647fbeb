#include "tools/report/gather.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/summary/event_reader.h"
#include "glog/logging.h"
#include "models/common/evaluated_examples.h"
#include "models/common/record_run.h"
#include "tools/report/assets.h"

namespace estimator {
namespace {

using nlohmann::json;

constexpr size_t kMaxPoints = 1000, kMaxVariables = 200, kMaxScores = 100'000;
constexpr int64_t kNumBuckets = 40, kMaxElements = int64_t{1} << 28;
constexpr int64_t kMaxFileBytes = int64_t{1} << 30;

// Every n-th point, and the last one.
json Thinned(const std::vector<const SummaryRecord*>& records) {
  json points = json::array();
  const size_t step = records.size() / kMaxPoints + 1;
  for (size_t i = 0; i < records.size(); ++i) {
    if (i % step == 0 || i + 1 == records.size())
      points.push_back({records[i]->step, records[i]->wall_time, records[i]->scalar});
  }
  return points;
}

// The scalars of the folder and of those in it.
absl::StatusOr<json> Scalars(const std::string& dir) {
  std::vector<std::string> folders = {""};
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(dir));
  for (const std::string& name : names) {
    if (IsDirectory(JoinPath(dir, name))) folders.push_back(name);
  }
  json scalars = json::array();
  for (const std::string& folder : folders) {
    EST_ASSIGN_OR_RETURN(const std::vector<SummaryRecord> records,
                         ReadEventDirectory(folder.empty() ? dir : JoinPath(dir, folder)));
    std::map<std::string, std::vector<const SummaryRecord*>> by_tag;
    for (const SummaryRecord& record : records) {
      if (record.kind == SummaryRecord::Kind::kScalar) by_tag[record.tag].push_back(&record);
    }
    for (const auto& [tag, points] : by_tag)
      scalars.push_back({{"folder", folder}, {"tag", tag}, {"points", Thinned(points)}});
  }
  return scalars;
}

// Leaves out what the page does not need. At most max_scores scores stay, those of the first
// examples.
//   scores: so many were there before.
void ShortenExample(json& example, size_t max_scores, size_t& scores) {
  json& values = example["scores"];
  const bool keep = values.is_array() && (scores += values.size()) <= max_scores;
  if (values.is_array())
    example["says"] = std::max_element(values.begin(), values.end()) - values.begin();
  for (json& score : values) {
    if (score.is_number()) score = std::round(score.get<double>() * 1e4) / 1e4;
  }
  example.erase(keep ? "says" : "scores");
  example["ok"] = absl::EndsWith(example.value("title", ""), "[correct]") ? 1 : 0;
  if (example.contains("png")) return;
  example.erase("title");
  example.erase("sure");
}

// The objects in the lines of a file. A process may be writing the last one, which has no line end
// yet.
//   notes: gets a sentence about other lines that cannot be read.
absl::StatusOr<json> Lines(const std::string& path, size_t max_scores, json& notes) {
  EST_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxFileBytes));
  json lines = json::array();
  size_t scores = 0, number = 0, first_bad = 0, num_bad = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    json object = json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) {
      const bool unfinished = line.end() == absl::string_view(text).end();
      if (!unfinished && num_bad++ == 0) first_bad = number;
      continue;
    }
    if (object.contains("label") && object["title"].is_string())
      ShortenExample(object, max_scores, scores);
    lines.push_back(std::move(object));
  }
  if (num_bad > 0) {
    notes.push_back(absl::StrCat(num_bad, num_bad == 1 ? " line of " : " lines of ", path,
                                 " cannot be read and ", num_bad == 1 ? "is" : "are",
                                 " left out: line ", first_bad, num_bad == 1 ? "" : " first",
                                 " is not a JSON object."));
  }
  return lines;
}

json HistogramOf(const Array& value) {
  const Array floats = value.Cast(DType::kFloat64);
  double min = std::numeric_limits<double>::infinity(), max = -min, sum = 0, squares = 0, n = 0;
  for (const double x : floats.values<double>()) {
    if (!std::isfinite(x)) continue;
    min = std::min(min, x);
    max = std::max(max, x);
    sum += x;
    squares += x * x;
    ++n;
  }
  std::vector<int64_t> counts(kNumBuckets);
  for (const double x : floats.values<double>()) {
    if (!std::isfinite(x)) continue;
    const double at = max > min ? (x - min) / (max - min) * kNumBuckets : 0;
    ++counts[static_cast<size_t>(std::min(static_cast<int64_t>(at), kNumBuckets - 1))];
  }
  return {{"min", min},
          {"max", max},
          {"mean", sum / n},
          {"std", std::sqrt(std::max(0.0, squares / n - sum / n * (sum / n)))},
          {"not_finite", floats.num_elements() - static_cast<int64_t>(n)},
          {"counts", counts}};
}

// Whether the variable belongs to another one, as the slot dense/kernel/Adam does.
bool IsSlot(const BundleReader& reader, const std::string& name) {
  for (size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
    if (reader.specs().count(name.substr(0, at)) > 0) return true;
  }
  return false;
}

absl::StatusOr<json> WeightsOf(const std::string& prefix) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, BundleReader::Open(prefix));
  json variables = json::array();
  int64_t elements = 0, left_out = 0;
  for (const auto& [name, spec] : reader->specs()) {
    const int64_t size = spec.shape.num_elements();
    if (!IsFloating(spec.dtype) || size < 2 || IsSlot(*reader, name)) continue;
    if (variables.size() == kMaxVariables || elements + size > kMaxElements) {
      ++left_out;
      continue;
    }
    elements += size;
    EST_ASSIGN_OR_RETURN(const Array value, reader->Read(name));
    json variable = HistogramOf(value);
    variable["name"] = name;
    variable["shape"] = spec.shape.ToString();
    variables.push_back(std::move(variable));
  }
  return json{{"checkpoint", std::string(Basename(prefix))},
              {"variables", variables},
              {"left_out", left_out}};
}

class Gatherer : public ReportGatherer {
 public:
  explicit Gatherer(std::vector<std::string> dirs) : dirs_(std::move(dirs)) {}

  std::string Gather(bool live) override {
    json runs = json::array();
    std::map<std::string, int> uses;
    for (const std::string& dir : dirs_) ++uses[std::string(Basename(dir))];
    for (const std::string& dir : dirs_) {
      json run = RunOf(dir);
      const std::string base(Basename(dir));
      run["name"] = uses[base] > 1 || base.empty() ? dir : base;
      run["dir"] = dir;
      runs.push_back(std::move(run));
    }
    const json all = {{"live", live}, {"licence", kChartLicence}, {"runs", runs}};
    return absl::StrReplaceAll(
        all.dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace),
        {{"<", "\\u003c"}});
  }

 private:
  json RunOf(const std::string& dir) {
    json run = {{"notes", json::array()}};
    const auto lines = [&](const char* file) {
      json notes = json::array();
      auto objects = Lines(JoinPath(dir, file), kMaxScores / dirs_.size(), notes);
      for (const json& note : notes) {
        run["notes"].push_back(note);
        // A page that is shown live is gathered every few seconds.
        if (told_.insert(note.get<std::string>()).second) LOG(WARNING) << note.get<std::string>();
      }
      return objects;
    };
    const auto add = [&run](const char* key, const char* what, const char* cure,
                            const absl::StatusOr<json>& part) {
      const bool absent = absl::IsNotFound(part.status()) || (part.ok() && part->empty());
      run[key] = part.ok() && !absent ? *part : json();
      if (absent) run["notes"].push_back(absl::StrCat("There is no ", what, ": ", cure, "."));
      if (!part.ok() && !absent)
        run["notes"].push_back(absl::StrCat("There is no ", what, ": ", part.status().message()));
    };
    add("history", "history by epoch",
        "TrainEpochs writes history.jsonl, and the program calls Train", lines("history.jsonl"));
    add("scalars", "curve by step", "the run has written no event files", Scalars(dir));
    add("starts", "hyperparameter, learning rate by step and share of time",
        "give the program --record_run", lines(kRunFile));
    add("examples", "confusion matrix, ROC and example",
        "give the program --record_run, or call WriteExamples", lines(kExamplesFile));
    add("weights", "histogram of weights", "there is no checkpoint yet", Weights(dir));
    return run;
  }
  // A checkpoint is read once.
  absl::StatusOr<json> Weights(const std::string& dir) {
    EST_ASSIGN_OR_RETURN(const std::optional<std::string> prefix, LatestCheckpoint(dir));
    if (!prefix.has_value()) return json();
    auto& [read, weights] = weights_[dir];
    if (read == *prefix) return weights;
    EST_ASSIGN_OR_RETURN(weights, WeightsOf(*prefix));
    read = *prefix;
    return weights;
  }

  const std::vector<std::string> dirs_;
  std::set<std::string> told_;
  std::map<std::string, std::pair<std::string, json>> weights_;  // by folder: checkpoint, weights
};

}  // namespace

absl::StatusOr<std::unique_ptr<ReportGatherer>> ReportGatherer::Open(
    const std::vector<std::string>& dirs) {
  for (const std::string& dir : dirs) {
    if (!IsDirectory(dir)) return InvalidArgument(dir, " is no folder; give a model_dir");
    EST_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(dir));
    if (std::none_of(names.begin(), names.end(), [](const std::string& name) {
          return name == "checkpoint" || name == "history.jsonl" || name == kRunFile ||
                 name == kExamplesFile || absl::StrContains(name, ".tfevents.");
        }))
      return InvalidArgument(dir, " is no model_dir: it has no checkpoint, history or event file");
  }
  return std::make_unique<Gatherer>(dirs);
}

std::string ReportPage(const std::string& json) {
  // Replaced in one pass: what is put in is not searched.
  return absl::StrReplaceAll(
      kReportPage,
      {{"@CHART_SCRIPT@", kChartScript}, {"@DATA@", json}, {"@REPORT_SCRIPT@", kReportScript}});
}

}  // namespace estimator
