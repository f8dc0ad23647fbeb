#include "tools/imagenet_to_tfrecord/imagenet.h"

#include <cstddef>
#include <initializer_list>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "tools/imagenet_to_tfrecord/bounding_boxes.h"
#include "tools/to_tfrecord/csv_table.h"

namespace estimator {
namespace {

// The first of the names that exists in the folder, or "".
std::string FirstOf(const std::string& directory, std::initializer_list<absl::string_view> names) {
  for (const absl::string_view name : names) {
    const std::string path = JoinPath(directory, name);
    if (FileExists(path)) return path;
  }
  return "";
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view stripped = absl::StripAsciiWhitespace(line);
    if (!stripped.empty()) lines.emplace_back(stripped);
  }
  return lines;
}

// Finds images and their labels step by step.
class Finder {
 public:
  explicit Finder(const ImagenetOptions& options)
      : options_(options),
        train_(FirstOf(options.directory,
                       {"train", "ILSVRC/Data/CLS-LOC/train", "Data/CLS-LOC/train"})),
        validation_(FirstOf(options.directory,
                            {"validation", "val", "ILSVRC/Data/CLS-LOC/val", "Data/CLS-LOC/val"})) {
  }

  absl::StatusOr<Imagenet> Find() {
    if (train_.empty() && validation_.empty()) {
      return NotFound(
          options_.directory,
          " has neither images of ImageNet for training (train/n01440764/*.JPEG) nor for "
          "validation (validation/*.JPEG), nor Kaggle's folders (ILSVRC/Data/CLS-LOC/train)");
    }
    if (train_.empty()) Note("there are no training images (train/): only validation is written");
    if (validation_.empty()) Note("there are no validation images (validation/, val/)");
    EST_RETURN_IF_ERROR(ReadSynsets());
    EST_RETURN_IF_ERROR(ReadNames());
    if (!train_.empty()) EST_RETURN_IF_ERROR(AddFolders(train_, result_.train));
    if (!validation_.empty()) EST_RETURN_IF_ERROR(AddValidation());
    EST_RETURN_IF_ERROR(ReadBoxes());
    return std::move(result_);
  }

 private:
  void Note(absl::string_view text) { result_.notes.emplace_back(text); }

  // The path of an option, or else the first of its usual names in the folder, or "".
  std::string FileOf(const std::string& option,
                     std::initializer_list<absl::string_view> names) const {
    return option.empty() ? FirstOf(options_.directory, names) : option;
  }

  absl::Status ReadSynsets() {
    const std::string path =
        FileOf(options_.labels_file,
               {"imagenet_lsvrc_2015_synsets.txt", "LOC_synset_mapping.txt", "synset_words.txt"});
    if (path.empty()) {
      const std::string& folders = train_.empty() ? validation_ : train_;
      EST_ASSIGN_OR_RETURN(const auto names, ListDirectory(folders));
      for (const std::string& name : names) {
        if (name[0] == '.') continue;
        EST_ASSIGN_OR_RETURN(const bool is_folder, DirectoryExists(JoinPath(folders, name)));
        if (is_folder) AddSynset(name, "");
      }
      Note(absl::StrCat("labels are the folders of ", folders,
                        " in sorted order, because there is no list of synsets (--labels_file)"));
    } else {
      EST_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
      for (const std::string& line : Lines(text)) {
        const std::pair<absl::string_view, absl::string_view> parts =
            absl::StrSplit(line, absl::MaxSplits(absl::ByAnyChar(" \t"), 1));
        AddSynset(std::string(parts.first), absl::StripAsciiWhitespace(parts.second));
      }
    }
    if (result_.set.synsets.empty()) {
      return NotFound(path.empty() ? absl::StrCat(options_.directory,
                                                  " has no folders of synsets; pass --labels_file")
                                   : absl::StrCat(path, " has no synsets"));
    }
    if (label_of_.size() < result_.set.synsets.size()) {
      return InvalidArgument(path, " has a synset twice");
    }
    return absl::OkStatus();
  }

  void AddSynset(const std::string& synset, absl::string_view name) {
    label_of_.emplace(synset, static_cast<int64_t>(result_.set.synsets.size()));
    result_.set.synsets.push_back(synset);
    result_.set.classes.emplace_back(name);
  }

  absl::Status ReadNames() {
    const std::string path =
        FileOf(options_.imagenet_metadata_file, {"imagenet_metadata.txt", "words.txt"});
    if (!path.empty()) {
      EST_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
      for (const std::string& line : Lines(text)) {
        const std::pair<absl::string_view, absl::string_view> parts =
            absl::StrSplit(line, absl::MaxSplits('\t', 1));
        const auto found = label_of_.find(std::string(parts.first));
        if (found == label_of_.end()) continue;  // the file has all synsets of WordNet
        result_.set.classes[static_cast<size_t>(found->second)] = std::string(parts.second);
      }
    }
    std::vector<std::string> nameless;
    for (size_t i = 0; i < result_.set.classes.size(); ++i) {
      if (!result_.set.classes[i].empty()) continue;
      nameless.push_back(result_.set.synsets[i]);
      result_.set.classes[i] = result_.set.synsets[i];
    }
    if (!nameless.empty()) {
      Note(absl::StrCat("image/class/text is the synset of ", nameless.size(),
                        " classes, because their names are in no file "
                        "(--imagenet_metadata_file): ",
                        JoinSome(nameless, 3)));
    }
    return absl::OkStatus();
  }

  void AddSample(const std::string& path, int64_t label, std::vector<int64_t>& indices) {
    indices.push_back(static_cast<int64_t>(result_.set.samples.size()));
    result_.set.samples.push_back(FileSample(path, std::string(Basename(path))));
    result_.set.samples.back().labels = {label};
  }

  // Images in folders of synsets.
  absl::Status AddFolders(const std::string& directory, std::vector<int64_t>& indices) {
    EST_ASSIGN_OR_RETURN(const auto names, ListDirectory(directory));
    std::vector<std::string> unknown;
    for (const std::string& name : names) {
      if (name[0] == '.') continue;
      const auto label = label_of_.find(name);
      if (label == label_of_.end() || !IsDirectory(JoinPath(directory, name))) {
        unknown.push_back(name);
        continue;
      }
      EST_RETURN_IF_ERROR(ForEachFile(JoinPath(directory, name), [&](const std::string& path) {
        AddSample(path, label->second, indices);
        return absl::OkStatus();
      }));
    }
    if (!unknown.empty()) {
      return InvalidArgument(directory, " has ", unknown.size(),
                             " entries that are not folders of a known synset: ",
                             JoinSome(unknown, 5), "; remove them, or add them to --labels_file");
    }
    if (!indices.empty()) return absl::OkStatus();
    return NotFound(directory, " has no images");
  }

  absl::Status AddValidation() {
    EST_ASSIGN_OR_RETURN(const auto names, ListDirectory(validation_));
    std::vector<std::string> files;
    for (const std::string& name : names) {
      if (name[0] != '.' && !IsDirectory(JoinPath(validation_, name))) files.push_back(name);
    }
    if (files.empty()) return AddFolders(validation_, result_.validation);
    if (files.size() < names.size()) {
      for (const std::string& name : names) {
        if (name[0] == '.' || !IsDirectory(JoinPath(validation_, name))) continue;
        return InvalidArgument(
            validation_, " has images (", files[0], ") and folders (", name,
            "); images are either all in folders of synsets or all beside each other");
      }
    }
    EST_ASSIGN_OR_RETURN(const auto synset_of, ReadValidationLabels());
    std::vector<std::string> mistakes;
    for (const std::string& name : files) {
      const auto synset = synset_of.find(std::string(name.substr(0, name.rfind('.'))));
      if (synset == synset_of.end()) {
        mistakes.push_back(absl::StrCat(name, " has no label"));
      } else if (label_of_.count(synset->second) == 0) {
        mistakes.push_back(absl::StrCat(name, " has the unknown synset ", synset->second));
      } else {
        AddSample(JoinPath(validation_, name), label_of_.at(synset->second), result_.validation);
      }
    }
    if (mistakes.empty()) return absl::OkStatus();
    return InvalidArgument(validation_, ": ", JoinSome(mistakes, 5), " (", validation_labels_, ")");
  }

  // The synset of each validation image, by its name without ".JPEG".
  absl::StatusOr<std::map<std::string, std::string>> ReadValidationLabels() {
    validation_labels_ =
        FileOf(options_.validation_labels_file,
               {"imagenet_2012_validation_synset_labels.txt", "LOC_val_solution.csv"});
    if (validation_labels_.empty()) {
      return NotFound(
          options_.directory,
          " has no imagenet_2012_validation_synset_labels.txt or LOC_val_solution.csv with the "
          "labels of ",
          validation_, "; pass --validation_labels_file");
    }
    EST_ASSIGN_OR_RETURN(const std::string text, ReadFile(validation_labels_));
    std::map<std::string, std::string> result;
    if (absl::EndsWith(validation_labels_, ".csv")) {
      EST_ASSIGN_OR_RETURN(const CsvTable table, ParseCsv(validation_labels_, text));
      EST_ASSIGN_OR_RETURN(const size_t id, table.Column("ImageId"));
      EST_ASSIGN_OR_RETURN(const size_t prediction, table.Column("PredictionString"));
      for (const auto& row : table.rows) {  // "n03995372 85 1 499 272": the synset and a box
        result[row[id]] = row[prediction].substr(0, row[prediction].find(' '));
      }
      return result;
    }
    int64_t number = 0;
    for (const std::string& line : Lines(text)) {
      result[absl::StrFormat("ILSVRC2012_val_%08d", ++number)] = line;
    }
    return result;
  }

  absl::Status ReadBoxes() {
    const std::string path =
        FileOf(options_.bounding_box_file,
               {"imagenet_2012_bounding_boxes.csv", "ILSVRC/Annotations/CLS-LOC",
                "Annotations/CLS-LOC", "bounding_boxes"});
    if (path.empty()) {
      Note("images get no bounding boxes, because there are none (--bounding_box_file)");
      return absl::OkStatus();
    }
    EST_ASSIGN_OR_RETURN(result_.set.boxes,
                         IsDirectory(path) ? ReadBoundingBoxXmls(path) : ReadBoundingBoxCsv(path));
    return absl::OkStatus();
  }

  const ImagenetOptions options_;
  const std::string train_, validation_;     // folders, or ""
  std::string validation_labels_;            // the file
  std::map<std::string, int64_t> label_of_;  // by synset
  Imagenet result_;
};

}  // namespace

absl::StatusOr<Imagenet> FindImagenet(const ImagenetOptions& options) {
  return Finder(options).Find();
}

}  // namespace estimator
