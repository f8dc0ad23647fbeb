#include "estimator/data/pipeline/iterator_state.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/little_endian.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

constexpr absl::string_view kMagic = "EITR";
constexpr char kVersion = 1;  // on disk: do not change
constexpr size_t kHeadBytes = kMagic.size() + 1;
constexpr size_t kCrcBytes = 4;
constexpr uint64_t kMostInt = uint64_t{1} << 62;  // so that the sum of two does not overflow

constexpr char kNameBegin[] = "(\"", kNameEnd[] = "\")";
constexpr size_t kNameMarkBytes = 2;

// Removes the names of data from a description, and returns them.
std::vector<std::string> TakeNames(std::string* description) {
  std::vector<std::string> names;
  for (size_t begin = 0; (begin = description->find(kNameBegin, begin)) != std::string::npos;) {
    const size_t end = description->find(kNameEnd, begin);
    if (end == std::string::npos) break;
    const size_t first = begin + kNameMarkBytes;
    names.push_back(description->substr(first, end - first));
    description->erase(begin, end + kNameMarkBytes - begin);
  }
  return names;
}

// The steps of a description, "Zip(Range, Range > Map)", "Batch(2)": its parts between " > ",
// except those inside parentheses.
std::vector<absl::string_view> Steps(absl::string_view description) {
  constexpr absl::string_view kArrow = " > ";
  std::vector<absl::string_view> steps;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < description.size(); ++i) {
    // A name of data may have parentheses of its own.
    const size_t end = description.substr(i, kNameMarkBytes) == kNameBegin
                           ? description.find(kNameEnd, i)
                           : absl::string_view::npos;
    if (end != absl::string_view::npos) {
      i = end + kNameMarkBytes - 1;
      continue;
    }
    if (description[i] == '(') ++depth;
    if (description[i] == ')') --depth;
    if (depth != 0 || description.substr(i, kArrow.size()) != kArrow) continue;
    steps.push_back(description.substr(begin, i - begin));
    begin = i + kArrow.size();
  }
  steps.push_back(description.substr(begin));
  return steps;
}

// What differs between two descriptions: `"Shuffle(10)" is now "Shuffle(20)"`.
std::string Difference(absl::string_view saved, absl::string_view now) {
  std::vector<absl::string_view> before = Steps(saved), after = Steps(now);
  while (!before.empty() && !after.empty() && before.back() == after.back()) {
    before.pop_back();
    after.pop_back();
  }
  size_t same = 0;
  while (same < before.size() && same < after.size() && before[same] == after[same]) ++same;
  before.erase(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(same));
  after.erase(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(same));
  const std::string old_steps = absl::StrCat("\"", absl::StrJoin(before, " > "), "\"");
  const std::string new_steps = absl::StrCat("\"", absl::StrJoin(after, " > "), "\"");
  if (before.empty() && after.empty()) return "the data have no name now";
  if (before.empty()) return absl::StrCat(new_steps, " was added");
  if (after.empty()) return absl::StrCat(old_steps, " was removed");
  return absl::StrCat(old_steps, " is now ", new_steps);
}

}  // namespace

std::string DataName(absl::string_view name) {
  if (name.empty()) return "";
  return absl::StrCat(kNameBegin, absl::StrReplaceAll(name, {{"\"", "'"}}), kNameEnd);
}

void StateWriter::Int(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
  bytes_.push_back(static_cast<char>(value));
}

void StateWriter::Bytes(absl::string_view value) {
  Int(static_cast<uint64_t>(value.size()));
  bytes_.append(value.data(), value.size());
}

absl::StatusOr<uint64_t> StateReader::Unsigned() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) break;
    const auto byte = static_cast<unsigned char>(rest_[0]);
    rest_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return DataLoss("the saved input position ends too early");
}

absl::StatusOr<int64_t> StateReader::Int() {
  EST_ASSIGN_OR_RETURN(const uint64_t value, Unsigned());
  if (value > kMostInt) {
    return DataLoss("the saved input position has the number ", value, ", which is too large");
  }
  return static_cast<int64_t>(value);
}

absl::StatusOr<bool> StateReader::Bool() {
  EST_ASSIGN_OR_RETURN(const uint64_t value, Unsigned());
  return value != 0;
}

absl::StatusOr<absl::string_view> StateReader::Bytes() {
  EST_ASSIGN_OR_RETURN(const uint64_t size, Unsigned());
  if (size > rest_.size()) return DataLoss("the saved input position ends too early");
  const absl::string_view value = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return value;
}

std::string SealState(absl::string_view description, absl::string_view nodes) {
  StateWriter head;
  head.Bytes(description);
  std::string sealed = absl::StrCat(kMagic, absl::string_view(&kVersion, 1), head.bytes(), nodes);
  const uint32_t crc = MaskCrc32c(Crc32c(sealed));
  AppendLittleEndian(crc, kCrcBytes, &sealed);
  return sealed;
}

absl::Status CheckSealedState(absl::string_view sealed) {
  if (sealed.size() < kHeadBytes + kCrcBytes || sealed.substr(0, kMagic.size()) != kMagic) {
    return DataLoss("not a saved input position: its ", sealed.size(),
                    " bytes are too few, or do not begin with \"", kMagic, "\"");
  }
  const absl::string_view body = sealed.substr(0, sealed.size() - kCrcBytes);
  const auto stored = static_cast<uint32_t>(LoadLittleEndian(sealed.substr(body.size())));
  if (UnmaskCrc32c(stored) != Crc32c(body)) {
    return DataLoss("the saved input position is damaged: the crc32c of its ", sealed.size(),
                    " bytes does not match");
  }
  return absl::OkStatus();
}

absl::StatusOr<SealedState> ReadSealedState(absl::string_view sealed) {
  EST_RETURN_IF_ERROR(CheckSealedState(sealed));
  const absl::string_view body = sealed.substr(0, sealed.size() - kCrcBytes);
  if (body[kMagic.size()] != kVersion) {
    return InvalidArgument("the saved input position has version ",
                           static_cast<int>(body[kMagic.size()]),
                           ", but this program reads version ", static_cast<int>(kVersion));
  }
  StateReader reader(body.substr(kHeadBytes));
  EST_ASSIGN_OR_RETURN(const absl::string_view description, reader.Bytes());
  return SealedState{.description = description,
                     .nodes = body.substr(body.size() - reader.remaining())};
}

absl::string_view LastStep(absl::string_view description) { return Steps(description).back(); }

absl::StatusOr<absl::string_view> UnsealState(absl::string_view description,
                                              absl::string_view sealed) {
  EST_ASSIGN_OR_RETURN(const SealedState saved, ReadSealedState(sealed));
  std::string saved_rest(saved.description), rest(description);
  const std::vector<std::string> saved_names = TakeNames(&saved_rest), names = TakeNames(&rest);
  if (!saved_names.empty() && !names.empty() && saved_names != names) {
    return FailedPrecondition("the run was trained on other data: on ",
                              JoinSome(saved_names, kShownNames), ", now on ",
                              JoinSome(names, kShownNames));
  }
  if (saved_rest != rest || (names.empty() && !saved_names.empty())) {
    return InvalidArgument(
        "the saved input position is of another pipeline: ", Difference(saved_rest, rest),
        " (saved \"", saved.description, "\", now \"", description,
        "\"); start without it, or build the same pipeline again");
  }
  return saved.nodes;
}

}  // namespace estimator
