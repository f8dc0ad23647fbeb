#include "tools/checkpoint/inspect.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "tools/checkpoint/companion_files.h"
#include "tools/checkpoint/damage.h"
#include "tools/checkpoint/elements.h"
#include "tools/checkpoint/tensor_stream.h"

namespace estimator {
namespace {

constexpr int64_t kEdge = 6;  // number of elements shown at each end of a long variable

int64_t StoredBytes(const BundleReader& reader, const BundleEntry& entry) {
  int64_t bytes = 0;
  for (const BundleEntry* const part : reader.index().PartsOf(entry)) bytes += part->size;
  return bytes;
}

// Statistics of the finite numbers, in one pass (Welford). The parts of a complex number count as
// two numbers.
class Statistics {
 public:
  void Add(Number number) {
    if (!std::isfinite(number)) {
      ++(std::isnan(number) ? num_nan_ : num_infinite_);
      return;
    }
    minimum_ = count_ == 0 ? number : std::min(minimum_, number);
    maximum_ = count_ == 0 ? number : std::max(maximum_, number);
    num_zero_ += number == 0;
    ++count_;
    const Number delta = number - mean_;
    mean_ += delta / static_cast<Number>(count_);
    squares_ += delta * (number - mean_);
  }
  std::string Text() const {
    std::string text;
    if (count_ > 0) {
      text = absl::StrFormat(
          "min %.6g  max %.6g  mean %.6g  std %.6g  zeros %d", static_cast<double>(minimum_),
          static_cast<double>(maximum_), static_cast<double>(mean_),
          std::sqrt(static_cast<double>(squares_) / static_cast<double>(count_)), num_zero_);
    }
    if (num_nan_ > 0) absl::StrAppend(&text, "  NaN ", num_nan_);
    if (num_infinite_ > 0) absl::StrAppend(&text, "  infinite ", num_infinite_);
    return text;
  }

 private:
  int64_t count_ = 0, num_zero_ = 0, num_nan_ = 0, num_infinite_ = 0;
  Number minimum_ = 0, maximum_ = 0, mean_ = 0, squares_ = 0;
};

// Appends the statistics and the elements of a variable of numbers. Reads it in one pass.
absl::Status ShowNumbers(const BundleReader& reader, const std::string& name,
                         const BundleEntry& entry, std::string* out) {
  EST_ASSIGN_OR_RETURN(TensorStream stream, TensorStream::Open(reader, name));
  const int64_t total = entry.spec.shape.num_elements();
  const auto element_bytes = static_cast<size_t>(DTypeOnDiskSize(entry.dtype_on_disk));
  const auto parts = static_cast<size_t>(NumbersPerElement(entry.dtype_on_disk));
  Statistics statistics;
  std::vector<std::string> texts;
  std::string buffer;
  std::vector<Number> numbers;
  for (int64_t done = 0; done < total;) {
    EST_RETURN_IF_ERROR(CheckInterrupt());
    const int64_t count = std::min(kElementsAtOnce, total - done);
    buffer.resize(static_cast<size_t>(count) * element_bytes);
    EST_RETURN_IF_ERROR(stream.Read(buffer.size(), buffer.data()));
    DecodeElements(entry.dtype_on_disk, buffer, &numbers);
    for (const Number number : numbers) statistics.Add(number);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t element = done + i;
      if (element < kEdge || element >= total - kEdge || total <= 4 * kEdge) {
        texts.push_back(ElementText(entry.dtype_on_disk, &numbers[static_cast<size_t>(i) * parts]));
      } else if (element == kEdge) {
        texts.emplace_back("...");
      }
    }
    done += count;
  }
  if (total > 1) absl::StrAppend(out, "statistics  ", statistics.Text(), "\n");
  absl::StrAppend(out, "values      ", absl::StrJoin(texts, " "), "\n");
  return absl::OkStatus();
}

// A line for each data file that is longer than its values. `ends` has the end of the last value of
// each data file. Such bytes do not belong to the checkpoint; values before them may be damaged.
absl::StatusOr<std::vector<std::string>> BytesAfterTheValues(const ValueSource& values,
                                                             const std::map<int, int64_t>& ends) {
  std::vector<std::string> lines;
  for (const auto& [shard, end] : ends) {
    const std::string path = values.Path(shard);
    EST_ASSIGN_OR_RETURN(const int64_t size, FileSize(path));
    if (size <= end) continue;
    lines.push_back(absl::StrCat(path, ": ", size - end,
                                 " bytes after the last value, which ends at ", end,
                                 "; another program wrote into the file"));
  }
  return lines;
}

}  // namespace

absl::StatusOr<std::string> List(const BundleReader& reader, const NameFilter& filter) {
  EST_ASSIGN_OR_RETURN(const auto names, SelectNames(reader, filter));
  std::vector<std::vector<std::string>> rows = {
      {"variable", "dtype", "shape", "elements", "bytes", "slices"}};
  int64_t num_elements = 0, num_bytes = 0;
  for (const std::string& name : names) {
    const BundleEntry& entry = reader.index().tensors.at(name);
    const int64_t bytes = StoredBytes(reader, entry);
    // A name has any bytes, which a terminal or the reader of a pipe may take for others.
    rows.push_back({absl::Utf8SafeCEscape(name), DTypeOnDiskName(entry.dtype_on_disk),
                    entry.spec.shape.ToString(), absl::StrCat(entry.spec.shape.num_elements()),
                    absl::StrCat(bytes),
                    entry.slices.empty() ? "" : absl::StrCat(entry.slices.size())});
    num_elements += entry.spec.shape.num_elements();
    num_bytes += bytes;
  }
  return absl::StrCat(FormatTable(rows), names.size(), " variables, ",
                      HumanCount(static_cast<double>(num_elements)), " elements, ",
                      HumanBytes(num_bytes), " in ", reader.prefix(), "\n");
}

absl::StatusOr<std::string> Show(const BundleReader& reader, const std::string& given) {
  const std::string name = reader.NameOf(given);
  const auto spec = reader.Spec(name);
  if (absl::IsNotFound(spec.status())) return spec.status();
  const BundleEntry& entry = reader.index().tensors.at(name);
  std::string out = absl::StrCat(
      absl::Utf8SafeCEscape(name), "\ntype        ", DTypeOnDiskName(entry.dtype_on_disk), " ",
      entry.spec.shape.ToString(), ", ", HumanBytes(StoredBytes(reader, entry)), "\n");
  for (const BundleEntry* const part : reader.index().PartsOf(entry)) {
    absl::StrAppend(&out, "stored in   ", reader.values().Path(part->shard), ": ", part->size,
                    " bytes at offset ", part->offset);
    if (part->masked_crc32c) {
      absl::StrAppend(&out, ", crc32c ", absl::Hex(*part->masked_crc32c, absl::kZeroPad8),
                      " (masked)");
    }
    if (!entry.slices.empty()) absl::StrAppend(&out, ", slice ", part->spec.shape.ToString());
    absl::StrAppend(&out, "\n");
  }
  if (NumbersPerElement(entry.dtype_on_disk) > 0) {
    EST_RETURN_IF_ERROR(ShowNumbers(reader, name, entry, &out));
  } else if (StringsFitInMemory(reader, entry)) {
    EST_ASSIGN_OR_RETURN(const Array value, reader.Read(name));
    absl::StrAppend(&out, "values      ", value.ToString(), "\n");
  } else {
    for (const BundleEntry* const part : reader.index().PartsOf(entry)) {
      EST_RETURN_IF_ERROR(reader.values().Read(*part, nullptr));
    }
    absl::StrAppend(&out, "values      not shown; their crc32c is correct\n");
  }
  return out;
}

absl::StatusOr<VerifyReport> Verify(const std::string& prefix) {
  VerifyReport report;
  const auto reader = BundleReader::Open(prefix);
  if (!absl::IsDataLoss(reader.status())) EST_RETURN_IF_ERROR(reader.status());
  EST_ASSIGN_OR_RETURN(const CompanionFilesReport extras, VerifyCompanionFiles(prefix));
  if (absl::IsDataLoss(reader.status())) {
    report.damage.emplace_back(reader.status().message());
    report.damage.insert(report.damage.end(), extras.damage.begin(), extras.damage.end());
    report.summary = absl::StrCat("damaged: ", prefix, " cannot be opened\n");
    return report;
  }
  int64_t num_bytes = 0, num_values = 0;
  std::map<int, int64_t> ends;  // of the last value of each data file
  const BundleIndex& index = (*reader)->index();
  for (const auto& [name, entry] : index.tensors) {
    EST_ASSIGN_OR_RETURN(const std::vector<std::string> damage, DamageOf(**reader, name));
    report.damage.insert(report.damage.end(), damage.begin(), damage.end());
    for (const BundleEntry* const part : index.PartsOf(entry)) {
      num_bytes += part->size;
      ++num_values;
      int64_t& end = ends[part->shard];
      end = std::max(end, part->offset + part->size);
    }
  }
  if (index.object_graph.has_value()) {
    // Open has verified it.
    for (const BundleEntry* const part : index.PartsOf(*index.object_graph)) {
      int64_t& end = ends[part->shard];
      end = std::max(end, part->offset + part->size);
    }
  }
  // A V1 checkpoint has no index file; its values have no offsets in a data file.
  std::vector<std::string> longer;
  if (FileExists(IndexPath(prefix))) {
    EST_ASSIGN_OR_RETURN(longer, BytesAfterTheValues((*reader)->values(), ends));
  }
  std::vector<std::string> damaged;
  const auto count = [&](size_t number, absl::string_view what, absl::string_view where) {
    if (number == 0) return;
    damaged.push_back(absl::StrCat(number, what, number == 1 ? "" : "s", where));
  };
  count(report.damage.size(), " damaged value", "");
  count(extras.damage.size(), " damaged file", " beside it");
  count(longer.size(), " data file", " with bytes after the last value");
  report.damage.insert(report.damage.end(), longer.begin(), longer.end());
  report.damage.insert(report.damage.end(), extras.damage.begin(), extras.damage.end());
  std::string beside;
  for (const std::string& path : extras.verified) {
    absl::StrAppend(&beside, beside.empty() ? "" : ", ", Basename(path));
  }
  report.summary =
      absl::StrCat(damaged.empty() ? "whole" : absl::StrJoin(damaged, ", "), ": ", prefix, ", ",
                   index.tensors.size(), " variables in ", num_values, " values, ",
                   HumanBytes(num_bytes), " in ", ends.size(), " data files verified",
                   beside.empty() ? "" : absl::StrCat("; beside it ", beside), "\n");
  return report;
}

}  // namespace estimator
