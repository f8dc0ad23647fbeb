#include "estimator/training/epochs/history.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

// On disk: do not change.
constexpr char kEpochColumn[] = "epoch", kStepColumn[] = "step", kSecondsColumn[] = "seconds";
constexpr int64_t kMaxHistoryBytes = int64_t{256} << 20;

std::string JsonPath(StringArg model_dir) { return JoinPath(model_dir, "history.jsonl"); }
std::string TablePath(StringArg model_dir) { return JoinPath(model_dir, "history.csv"); }

std::string JsonLine(const EpochRecord& record) {
  nlohmann::ordered_json line = {{kEpochColumn, record.epoch}, {kStepColumn, record.global_step}};
  for (const auto& [name, value] : record.logs) line[name] = value;
  line[kSecondsColumn] = record.seconds;
  return absl::StrCat(line.dump(), "\n");
}

absl::StatusOr<EpochRecord> ParseJsonLine(absl::string_view text) {
  const nlohmann::json line = nlohmann::json::parse(text.begin(), text.end(), nullptr,
                                                    /*allow_exceptions=*/false);
  const auto number = [&line](const char* name) {
    return line.contains(name) && line[name].is_number();
  };
  if (!line.is_object() || !number(kEpochColumn) || !number(kStepColumn) || !number(kSecondsColumn))
    return DataLoss("it has no ", kEpochColumn, ", ", kStepColumn, " and ", kSecondsColumn);
  EpochRecord record{.epoch = line[kEpochColumn].get<int64_t>(),
                     .global_step = line[kStepColumn].get<int64_t>(),
                     .seconds = line[kSecondsColumn].get<double>()};
  for (const auto& [name, value] : line.items()) {
    if (name == kEpochColumn || name == kStepColumn || name == kSecondsColumn) continue;
    if (!value.is_number() && !value.is_null()) return DataLoss("'", name, "' is no number");
    record.logs[name] =
        value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  }
  return record;
}

// Names of metrics may have a comma.
std::string Quoted(const std::string& name) {
  if (name.find_first_of(",\"\n") == std::string::npos) return name;
  return absl::StrCat("\"", absl::StrReplaceAll(name, {{"\"", "\"\""}}), "\"");
}

using HistoryColumns = std::set<std::string>;

HistoryColumns ColumnsOf(const History& history, size_t num_records) {
  HistoryColumns columns;
  for (size_t i = 0; i < num_records; ++i) {
    for (const auto& [name, value] : history.records[i].logs) columns.insert(name);
  }
  return columns;
}

std::string TableHead(const HistoryColumns& columns) {
  std::string head = absl::StrCat(kEpochColumn, ",", kStepColumn);
  for (const std::string& name : columns) absl::StrAppend(&head, ",", Quoted(name));
  return absl::StrCat(head, ",", kSecondsColumn, "\n");
}

std::string TableLine(const EpochRecord& record, const HistoryColumns& columns) {
  std::string line = absl::StrCat(record.epoch, ",", record.global_step);
  for (const std::string& name : columns) {
    const auto found = record.logs.find(name);
    absl::StrAppend(&line, ",", found == record.logs.end() ? "" : NumberText(found->second));
  }
  return absl::StrCat(line, ",", NumberText(record.seconds), "\n");
}

absl::Status WriteTable(StringArg model_dir, const History& history) {
  const HistoryColumns columns = ColumnsOf(history, history.records.size());
  std::string table = TableHead(columns);
  for (const EpochRecord& record : history.records)
    absl::StrAppend(&table, TableLine(record, columns));
  return WriteDerivedFile(TablePath(model_dir), table);
}

absl::Status AppendLine(const std::string& path, const std::string& line) {
  EST_ASSIGN_OR_RETURN(const auto file, WritableFile::Open(path, WritableFile::Mode::kAppend));
  EST_RETURN_IF_ERROR(file->Append(line));
  return file->Close();
}

}  // namespace

std::string NumberText(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  return nlohmann::json(value).dump();
}

std::vector<double> History::operator[](StringArg name) const {
  std::vector<double> values;
  for (const EpochRecord& record : records) {
    const auto found = record.logs.find(std::string(name));
    values.push_back(found == record.logs.end() ? std::numeric_limits<double>::quiet_NaN()
                                                : found->second);
  }
  return values;
}

absl::StatusOr<History> ReadHistory(StringArg model_dir) {
  const std::string path = JsonPath(model_dir);
  absl::StatusOr<std::string> text = ReadFile(path, kMaxHistoryBytes);
  History history;
  if (absl::IsNotFound(text.status())) return history;
  EST_RETURN_IF_ERROR(text.status());
  absl::string_view rest = *text;
  for (int line = 1; rest.find('\n') != absl::string_view::npos; ++line) {
    const size_t end = rest.find('\n');
    absl::StatusOr<EpochRecord> record = ParseJsonLine(rest.substr(0, end));
    if (!record.ok()) {
      return DataLoss(path, ", line ", line, " is not an epoch: ", record.status().message(),
                      "; delete the line, or the file to begin a new history");
    }
    history.records.push_back(*std::move(record));
    rest.remove_prefix(end + 1);
  }
  return history;
}

absl::Status WriteHistory(StringArg model_dir, const History& history) {
  EST_RETURN_IF_ERROR(CreateDirectories(model_dir));
  std::string lines;
  for (const EpochRecord& record : history.records) absl::StrAppend(&lines, JsonLine(record));
  EST_RETURN_IF_ERROR(WriteDerivedFile(JsonPath(model_dir), lines));
  return WriteTable(model_dir, history);
}

absl::Status AppendToHistory(StringArg model_dir, const History& history) {
  const EpochRecord& record = history.last();
  for (const char* name : {kEpochColumn, kStepColumn, kSecondsColumn}) {
    if (record.logs.count(name) > 0)
      return InvalidArgument("history: a metric may not be called '", name,
                             "', which is a column of its own; choose another name");
  }
  if (history.records.size() == 1) return WriteHistory(model_dir, history);
  EST_RETURN_IF_ERROR(AppendLine(JsonPath(model_dir), JsonLine(record)));
  const HistoryColumns columns = ColumnsOf(history, history.records.size() - 1);
  for (const auto& [name, value] : record.logs) {
    if (columns.count(name) == 0) return WriteTable(model_dir, history);
  }
  return AppendLine(TablePath(model_dir), TableLine(record, columns));
}

}  // namespace estimator
