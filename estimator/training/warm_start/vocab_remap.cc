#include "estimator/training/warm_start/vocab_remap.h"

#include <cstring>
#include <unordered_map>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

using Words = std::unordered_map<std::string, int64_t>;  // word -> index

// Returns the first `size` words of a file, or all if `size` is -1.
absl::StatusOr<std::vector<std::string>> ReadWords(const std::string& path, int64_t size,
                                                   const char* size_name) {
  EST_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<std::string> words;
  Words lines;
  for (absl::string_view line :
       absl::StrSplit(absl::StripSuffix(text, "\n"), '\n', absl::AllowEmpty())) {
    // An empty file is split into one empty word.
    if (text.empty() || static_cast<int64_t>(words.size()) == size) break;
    line = absl::StripSuffix(line, "\r");
    const auto [it, is_new] =
        lines.emplace(std::string(line), static_cast<int64_t>(words.size()) + 1);
    if (!is_new) {
      return InvalidArgument("vocabulary ", path, " has '", line, "' twice, in lines ", it->second,
                             " and ", words.size() + 1);
    }
    words.emplace_back(line);
  }
  if (static_cast<int64_t>(words.size()) < size || words.empty()) {
    return InvalidArgument("vocabulary ", path, " has ", words.size(), " words, but ", size_name,
                           " needs ", size < 0 ? 1 : size);
  }
  return words;
}

}  // namespace

absl::StatusOr<VocabRemapping> ReadVocabRemapping(const VocabInfo& info) {
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> old_words,
                       ReadWords(info.old_vocab, info.old_vocab_size, "old_vocab_size"));
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> new_words,
                       ReadWords(info.new_vocab, info.new_vocab_size, "new_vocab_size"));
  Words indices;
  for (size_t i = 0; i < old_words.size(); ++i) indices[old_words[i]] = static_cast<int64_t>(i);
  VocabRemapping remapping{.old_index = {}, .old_size = static_cast<int64_t>(old_words.size())};
  for (const std::string& word : new_words) {
    const auto found = indices.find(word);
    remapping.old_index.push_back(found == indices.end() ? -1 : found->second);
  }
  return remapping;
}

void RemapAxis(const Array& old_value, const VocabRemapping& remapping, int axis, Array* value) {
  int64_t outer = 1, inner_bytes = static_cast<int64_t>(DTypeSize(value->dtype()));
  for (int i = 0; i < axis; ++i) outer *= value->shape().dim(i);
  for (int i = axis + 1; i < value->shape().rank(); ++i) inner_bytes *= value->shape().dim(i);
  const int64_t from_size = old_value.shape().dim(axis), to_size = value->shape().dim(axis);
  const auto* from = static_cast<const char*>(old_value.raw());
  auto* to = static_cast<char*>(value->raw());
  for (int64_t o = 0; o < outer; ++o) {
    for (size_t i = 0; i < remapping.old_index.size(); ++i) {
      const int64_t old_index = remapping.old_index[i];
      // A word that the old vocabulary lacks keeps the row that the caller has given it.
      if (old_index < 0 || inner_bytes == 0) continue;
      std::memcpy(to + (o * to_size + static_cast<int64_t>(i)) * inner_bytes,
                  from + (o * from_size + old_index) * inner_bytes,
                  static_cast<size_t>(inner_bytes));
    }
  }
}

}  // namespace estimator
