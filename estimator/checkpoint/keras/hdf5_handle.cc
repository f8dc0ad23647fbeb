#include "estimator/checkpoint/keras/hdf5_handle.h"

#include <cstddef>
#include <cstdint>

namespace estimator {
namespace {

std::recursive_mutex& LibraryMutex() {
  // Never destroyed: a file may be closed by the destructor of another static object.
  static auto* const mutex = new std::recursive_mutex;
  return *mutex;
}

// IEEE's float of 16 bits: 5 of the exponent, 10 of the fraction. Negative after an error.
hid_t HalfType() {
  const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
  if (H5Tset_fields(type, 15, 10, 5, 0, 10) >= 0 && H5Tset_size(type, 2) >= 0 &&
      H5Tset_ebias(type, 15) >= 0)
    return type;
  H5Tclose(type);
  return -1;
}

// h5py's bool: an enumeration of one byte.
hid_t BoolType() {
  const hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
  int8_t value = 0;
  H5Tenum_insert(type, "FALSE", &value);
  value = 1;
  H5Tenum_insert(type, "TRUE", &value);
  return type;
}

constexpr int kFloat = 1, kDouble = 2, kBool = 10, kHalf = 19;

// Integers: TensorFlow's number, bytes, sign. On disk: do not change.
struct IntegerType {
  int dtype_on_disk;
  size_t bytes;
  H5T_sign_t sign;
};
constexpr H5T_sign_t kSigned = H5T_SGN_2, kUnsigned = H5T_SGN_NONE;
constexpr IntegerType kIntegers[] = {{3, 4, kSigned},    {4, 1, kUnsigned}, {5, 2, kSigned},
                                     {6, 1, kSigned},    {9, 8, kSigned},   {17, 2, kUnsigned},
                                     {22, 4, kUnsigned}, {23, 8, kUnsigned}};

bool IsEither(hid_t type, hid_t a, hid_t b) {
  return H5Tequal(type, a) > 0 || H5Tequal(type, b) > 0;
}

}  // namespace

Hdf5Guard::Hdf5Guard() : lock_(LibraryMutex()) {
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Guard::~Hdf5Guard() { H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }

std::string Hdf5Guard::Error() {
  std::string text;
  // Upward: the first entry is that of the function in which the error was found.
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* entry, void* out) -> herr_t {
        auto& message = *static_cast<std::string*>(out);
        if (message.empty() && entry->desc != nullptr) message = entry->desc;
        return 0;
      },
      &text);
  H5Eclear2(H5E_DEFAULT);
  return text.empty() ? "unknown error of the HDF5 library" : text;
}

Hdf5Handle::~Hdf5Handle() {
  if (id_ < 0) return;
  const Hdf5Guard guard;
  close_(id_);
}

hid_t Hdf5MemoryType(int dtype_on_disk) {
  if (dtype_on_disk == kFloat) return H5Tcopy(H5T_NATIVE_FLOAT);
  if (dtype_on_disk == kDouble) return H5Tcopy(H5T_NATIVE_DOUBLE);
  if (dtype_on_disk == kHalf) return HalfType();
  if (dtype_on_disk == kBool) return BoolType();
  for (const IntegerType& integer : kIntegers) {
    if (integer.dtype_on_disk != dtype_on_disk) continue;
    const hid_t type = H5Tcopy(H5T_NATIVE_INT64);
    H5Tset_size(type, integer.bytes);
    H5Tset_sign(type, integer.sign);
    return type;
  }
  return -1;
}

int DTypeOnDiskOfHdf5(hid_t type) {
  const size_t bytes = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      if (IsEither(type, H5T_IEEE_F32LE, H5T_IEEE_F32BE)) return kFloat;
      if (IsEither(type, H5T_IEEE_F64LE, H5T_IEEE_F64BE)) return kDouble;
      return H5Tequal(type, Hdf5Handle(HalfType(), H5Tclose).get()) > 0 ? kHalf : 0;
    case H5T_INTEGER:
      for (const IntegerType& integer : kIntegers) {
        // Not all bits of an integer need be used, but then this is no type of NumPy's.
        if (integer.bytes == bytes && H5Tget_precision(type) == 8 * bytes &&
            integer.sign == H5Tget_sign(type))
          return integer.dtype_on_disk;
      }
      return 0;
    case H5T_ENUM:
      return H5Tequal(type, Hdf5Handle(BoolType(), H5Tclose).get()) > 0 ? kBool : 0;
    default:
      return 0;
  }
}

}  // namespace estimator
