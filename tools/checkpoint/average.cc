#include "tools/checkpoint/average.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "tools/checkpoint/arguments.h"
#include "tools/checkpoint/elements.h"
#include "tools/checkpoint/rewrite.h"
#include "tools/checkpoint/tensor_stream.h"

namespace estimator {
namespace {

using Readers = std::vector<std::unique_ptr<BundleReader>>;

std::string TypeIn(const BundleReader& reader, const std::string& name) {
  const auto found = reader.index().tensors.find(name);
  if (found == reader.index().tensors.end()) return "-";
  return absl::StrCat(DTypeOnDiskName(found->second.dtype_on_disk), " ",
                      found->second.spec.shape.ToString());
}

absl::Status CheckSameVariables(const Readers& readers) {
  std::set<std::string> names;
  for (const auto& reader : readers) names.insert(reader->names().begin(), reader->names().end());
  std::vector<std::vector<std::string>> rows = {{"variable"}};
  for (const auto& reader : readers) rows[0].push_back(reader->prefix());
  for (const std::string& name : names) {
    std::vector<std::string> row = {name};
    for (const auto& reader : readers) row.push_back(TypeIn(*reader, name));
    if (std::set<std::string>(row.begin() + 1, row.end()).size() > 1) rows.push_back(row);
  }
  if (rows.size() == 1) return absl::OkStatus();
  return InvalidArgument("these are not checkpoints of one model: ", rows.size() - 1,
                         " variables differ; `extract` those that they share first\n",
                         FormatTable(rows));
}

absl::Status AverageVariable(const Readers& readers, const std::string& name,
                             const BundleEntry& entry, const BundleWriter::Append& append) {
  std::vector<TensorStream> streams;
  for (const auto& reader : readers) {
    EST_ASSIGN_OR_RETURN(TensorStream stream, TensorStream::Open(*reader, name));
    streams.push_back(std::move(stream));
  }
  const auto element_bytes = static_cast<size_t>(DTypeOnDiskSize(entry.dtype_on_disk));
  const int64_t total = entry.spec.shape.num_elements();
  std::string buffer;
  std::vector<Number> numbers, sums;
  for (int64_t done = 0; done < total;) {
    EST_RETURN_IF_ERROR(CheckInterrupt());
    const int64_t count = std::min(kElementsAtOnce, total - done);
    // Sums of a piece of each checkpoint: memory does not grow with their number.
    sums.clear();
    for (TensorStream& stream : streams) {
      buffer.resize(static_cast<size_t>(count) * element_bytes);
      EST_RETURN_IF_ERROR(stream.Read(buffer.size(), buffer.data()));
      DecodeElements(entry.dtype_on_disk, buffer, &numbers);
      sums.resize(numbers.size(), 0);
      for (size_t i = 0; i < numbers.size(); ++i) sums[i] += numbers[i];
    }
    for (Number& sum : sums) sum /= static_cast<Number>(streams.size());
    EncodeElements(entry.dtype_on_disk, sums, &buffer);
    EST_RETURN_IF_ERROR(append(buffer));
    done += count;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> Average(const Readers& readers, const std::string& output) {
  EST_RETURN_IF_ERROR(CheckSameVariables(readers));
  const BundleReader& last = *readers.back();
  EST_ASSIGN_OR_RETURN(const auto writer, BundleWriter::Open(output));
  std::vector<std::string> copied;
  for (const auto& [name, entry] : last.index().tensors) {
    if (!CanEncode(entry.dtype_on_disk)) {
      copied.push_back(name);
      EST_RETURN_IF_ERROR(CopyVariable(last, name, name, *writer));
      continue;
    }
    const BundleWriter::Stored stored{.dtype_on_disk = entry.dtype_on_disk,
                                      .shape = entry.spec.shape,
                                      .extents = {},
                                      .crc32c = std::nullopt};
    EST_RETURN_IF_ERROR(writer->AddStored(name, stored, [&](const BundleWriter::Append& append) {
      return AverageVariable(readers, name, entry, append);
    }));
  }
  EST_ASSIGN_OR_RETURN(const std::string note, FinishCheckpoint(*writer, output, std::nullopt));
  return absl::StrCat(
      "averaged ", last.names().size() - copied.size(), " variables of ", readers.size(),
      " checkpoints",
      copied.empty() ? ""
                     : absl::StrCat("; ", absl::StrJoin(copied, ", "), " as in ", last.prefix()),
      "; wrote ", output, "\n", note);
}

}  // namespace estimator
