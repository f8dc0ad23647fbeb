// The HDF5 library's handles, lock, types and errors, for the .cc files of this folder.
#ifndef ESTIMATOR_CHECKPOINT_KERAS_HDF5_HANDLE_H_
#define ESTIMATOR_CHECKPOINT_KERAS_HDF5_HANDLE_H_

#include <hdf5/serial/hdf5.h>

#include <mutex>
#include <string>

namespace estimator {

// Lives while the library is used: holds its lock, and turns the printing of its errors off.
// A thread may have several at a time.
class Hdf5Guard {
 public:
  Hdf5Guard();
  ~Hdf5Guard();
  Hdf5Guard(const Hdf5Guard&) = delete;
  Hdf5Guard& operator=(const Hdf5Guard&) = delete;

  // The innermost message of the last error ("file signature not found"); clears it.
  static std::string Error();

 private:
  const std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

// An identifier of the library, which is closed at the end. Negative after an error.
class Hdf5Handle {
 public:
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Hdf5Handle();
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;

  bool ok() const { return id_ >= 0; }
  hid_t get() const { return id_; }

 private:
  const hid_t id_;
  herr_t (*const close_)(hid_t);
};

// The type of elements in memory; an own copy, to close with H5Tclose.
//   dtype_on_disk: TensorFlow's number. Negative if HDF5 has no such numbers.
hid_t Hdf5MemoryType(int dtype_on_disk);
// TensorFlow's number for a type of a file; 0 if there is none.
int DTypeOnDiskOfHdf5(hid_t type);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_KERAS_HDF5_HANDLE_H_
