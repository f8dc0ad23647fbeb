#include "estimator/checkpoint/keras/hdf5_file.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/array/element_limit.h"
#include "estimator/base/file.h"
#include "estimator/base/remote/remote_file_system.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/bundle_entry.h"
#include "estimator/checkpoint/keras/hdf5_handle.h"

namespace estimator {
namespace {

constexpr int kMaxDepth = 64;           // of groups in groups
constexpr size_t kMaxObjects = 200000;  // a group may contain itself
constexpr char kSaveAgain[] =
    "; Keras writes no such files: load the model with Keras, and save its weights again";

struct Link {
  std::string name;
  H5L_type_t type;
};

struct Links {
  std::vector<Link> list = {};
  // What is left of the file's size: many entries of a group may have one name, which is long.
  int64_t* name_bytes;
};

herr_t AddLink(hid_t, const char* name, const H5L_info_t* info, void* to) {
  auto& links = *static_cast<Links*>(to);
  *links.name_bytes -= static_cast<int64_t>(std::strlen(name)) + 1;
  if (*links.name_bytes < 0) return -1;
  links.list.push_back({name, info->type});
  return links.list.size() > kMaxObjects ? -1 : 0;
}

// Finds the datasets. Everything in the file may be wrong.
class Walker {
 public:
  Walker(absl::string_view file, int64_t file_bytes, absl::string_view names)
      : file_(file),
        file_bytes_(file_bytes),
        names_(names),
        names0_(absl::StrCat(names, 0)),
        name_bytes_left_(file_bytes) {}

  // Walks over a group and those in it.
  absl::Status Walk(hid_t group, const std::string& path, std::string named_group, int depth) {
    if (depth > kMaxDepth)
      return Lost(path, absl::StrCat("it is a group in ", kMaxDepth, " others", kSaveAgain));
    if (H5Aexists(group, names_.c_str()) > 0 || H5Aexists(group, names0_.c_str()) > 0) {
      named_group = path;
      contents_.has_names = true;
    }
    Links links{.name_bytes = &name_bytes_left_};
    if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, AddLink, &links) < 0) {
      return Lost(path, name_bytes_left_ < 0 ? "the names in it are longer than the file"
                                             : Hdf5Guard::Error());
    }
    for (const Link& link : links.list) {
      const std::string child = path.empty() ? link.name : absl::StrCat(path, "/", link.name);
      // The library would take it for a path, through links that are not checked yet.
      if (absl::StrContains(link.name, '/')) return Lost(child, "a name in it has a '/'");
      if (++num_objects_ > kMaxObjects)
        return Lost(child, absl::StrCat("the file has more than ", kMaxObjects, " groups"));
      if (link.type != H5L_TYPE_HARD) {
        return Unsupported(
            child, link.type == H5L_TYPE_SOFT ? "it is a soft link" : "it links to another file");
      }
      const Hdf5Handle object(H5Oopen(group, link.name.c_str(), H5P_DEFAULT), H5Oclose);
      if (!object.ok()) return Lost(child, Hdf5Guard::Error());
      const H5I_type_t type = H5Iget_type(object.get());
      if (type == H5I_GROUP) EST_RETURN_IF_ERROR(Walk(object.get(), child, named_group, depth + 1));
      if (type != H5I_DATASET) continue;
      contents_.datasets.push_back({.path = child, .group = named_group});
      EST_RETURN_IF_ERROR(Describe(object.get(), &contents_.datasets.back()));
    }
    return absl::OkStatus();
  }

  Hdf5File::Contents TakeContents() { return std::move(contents_); }

 private:
  absl::Status Lost(const std::string& path, absl::string_view what) const {
    return DataLoss(file_, ": ", path, ": ", what);
  }
  absl::Status Unsupported(const std::string& path, absl::string_view what) const {
    return Unimplemented(file_, ": ", path, ": ", what, kSaveAgain);
  }

  absl::Status Describe(hid_t id, Hdf5Dataset* dataset) const {
    const Hdf5Handle creation(H5Dget_create_plist(id), H5Pclose);
    if (!creation.ok()) return Lost(dataset->path, Hdf5Guard::Error());
    // Before the shape, for which the library may open the other files.
    if (H5Pget_external_count(creation.get()) != 0 || H5Pget_layout(creation.get()) == H5D_VIRTUAL)
      return Unsupported(dataset->path, "its values are in other files or datasets");
    const Hdf5Handle type(H5Dget_type(id), H5Tclose), space(H5Dget_space(id), H5Sclose);
    if (!type.ok() || !space.ok()) return Lost(dataset->path, Hdf5Guard::Error());
    dataset->dtype_on_disk = DTypeOnDiskOfHdf5(type.get());
    if (dataset->dtype_on_disk == 0) {
      const H5T_class_t kind = H5Tget_class(type.get());
      return Unsupported(dataset->path, absl::StrCat("its elements are ",
                                                     kind == H5T_COMPOUND ? "compounds, not"
                                                     : kind == H5T_STRING ? "strings, not"
                                                                          : "no",
                                                     " numbers of 1, 2, 4 or 8 bytes"));
    }
    EST_RETURN_IF_ERROR(ReadShape(space.get(), dataset));
    return CheckLayout(id, creation.get(), dataset);
  }

  absl::Status ReadShape(hid_t space, Hdf5Dataset* dataset) const {
    hsize_t dims[H5S_MAX_RANK] = {};
    const int rank = H5Sget_simple_extent_dims(space, dims, nullptr);
    if (rank < 0 || H5Sget_simple_extent_type(space) == H5S_NULL)
      return Unsupported(dataset->path, "it has no shape");
    for (int i = 0; i < rank; ++i) dataset->shape.push_back(static_cast<int64_t>(dims[i]));
    // The bound leaves room to multiply by the size of an element.
    if (!HasElementsAtMost(dataset->shape, int64_t{1} << 56)) {
      return Lost(dataset->path,
                  absl::StrCat("it has the impossible shape ", dataset->shape.ToString()));
    }
    dataset->size_bytes = dataset->shape.num_elements() * DTypeOnDiskSize(dataset->dtype_on_disk);
    return absl::OkStatus();
  }

  absl::Status CheckLayout(hid_t id, hid_t creation, Hdf5Dataset* dataset) const {
    const H5D_layout_t layout = H5Pget_layout(creation);
    if (H5Pget_nfilters(creation) != 0) {
      return Unimplemented(file_, ": ", dataset->path,
                           ": it is compressed; decompress the file with `h5repack -f NONE ", file_,
                           " NEW.h5`");
    }
    const haddr_t offset = H5Dget_offset(id);
    if (offset != HADDR_UNDEF) dataset->offset = static_cast<int64_t>(offset);
    const hsize_t stored = H5Dget_storage_size(id);
    // Chunks at the edge may be larger than what is left of the shape.
    const bool fits =
        static_cast<hsize_t>(dataset->size_bytes) <= stored &&
        stored <= static_cast<hsize_t>(file_bytes_) &&
        (layout == H5D_CHUNKED || dataset->size_bytes == static_cast<int64_t>(stored));
    if (fits || dataset->size_bytes == 0) return absl::OkStatus();
    return Lost(dataset->path, absl::StrCat("its shape ", dataset->shape.ToString(), " takes ",
                                            dataset->size_bytes, " bytes, but it has ", stored,
                                            " in the file of ", file_bytes_, " bytes"));
  }

  const absl::string_view file_;
  const int64_t file_bytes_;
  const std::string names_, names0_;
  Hdf5File::Contents contents_;
  size_t num_objects_ = 0;
  int64_t name_bytes_left_;
};

absl::Status OpenError(absl::string_view path) {
  return DataLoss(path, " is not a whole HDF5 file: ", Hdf5Guard::Error(),
                  "; copy or download it again");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Hdf5File>> Hdf5File::Open(absl::string_view path) {
  if (IsRemotePath(path)) {  // the library opens local files only
    EST_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
    return OpenContents(path, contents);
  }
  EST_ASSIGN_OR_RETURN(const int64_t size, FileSize(path));
  auto file = absl::WrapUnique(new Hdf5File(path, size));
  const Hdf5Guard guard;
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // Some file systems have no locks, and a reader needs none.
  H5Pset_file_locking(access.get(), /*use_file_locking=*/false, /*ignore_when_disabled=*/true);
  file->id_ = H5Fopen(file->path_.c_str(), H5F_ACC_RDONLY, access.get());
  if (file->id_ < 0) return OpenError(path);
  return file;
}

absl::StatusOr<std::unique_ptr<Hdf5File>> Hdf5File::OpenContents(absl::string_view path,
                                                                 absl::string_view contents) {
  auto file = absl::WrapUnique(new Hdf5File(path, static_cast<int64_t>(contents.size())));
  const Hdf5Guard guard;
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // With an image, the driver `core` neither opens nor writes a file.
  if (H5Pset_fapl_core(access.get(), /*increment=*/1 << 16, /*backing_store=*/false) < 0 ||
      H5Pset_file_image(access.get(), const_cast<char*>(contents.data()), contents.size()) < 0)
    return OpenError(path);
  // The library takes files in memory of one name for the same file.
  static int64_t number = 0;  // guarded by the lock
  const std::string name = absl::StrCat(path, "#", number++);
  file->id_ = H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.get());
  if (file->id_ < 0) return OpenError(path);
  return file;
}

Hdf5File::~Hdf5File() {
  if (id_ < 0) return;
  const Hdf5Guard guard;
  H5Fclose(id_);
}

absl::StatusOr<Hdf5File::Contents> Hdf5File::Walk(absl::string_view names) const {
  const Hdf5Guard guard;
  const Hdf5Handle root(H5Gopen2(id_, "/", H5P_DEFAULT), H5Gclose);
  if (!root.ok()) return OpenError(path_);
  Walker walker(path_, file_bytes_, names);
  EST_RETURN_IF_ERROR(walker.Walk(root.get(), "", "", 0));
  return walker.TakeContents();
}

absl::Status Hdf5File::Read(const Hdf5Dataset& dataset, char* bytes) const {
  if (dataset.size_bytes == 0) return absl::OkStatus();
  const Hdf5Guard guard;
  const Hdf5Handle id(H5Dopen2(id_, dataset.path.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Handle type(Hdf5MemoryType(dataset.dtype_on_disk), H5Tclose);
  const auto elements = static_cast<hsize_t>(dataset.shape.num_elements());
  // A flat array of the size of `bytes`: the library compares it with what the file has now.
  const Hdf5Handle memory(H5Screate_simple(1, &elements, nullptr), H5Sclose);
  if (id.ok() && type.ok() &&
      H5Dread(id.get(), type.get(), memory.get(), H5S_ALL, H5P_DEFAULT, bytes) >= 0)
    return absl::OkStatus();
  return DataLoss(path_, ": ", dataset.path, " (", dataset.size_bytes, " bytes at offset ",
                  dataset.offset, "): ", Hdf5Guard::Error(),
                  "; the file is damaged: copy or download it again");
}

}  // namespace estimator
