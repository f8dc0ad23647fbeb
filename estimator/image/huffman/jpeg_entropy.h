// Reads the coefficients of a JPEG file for libjpeg, faster than libjpeg does. Internal to
// estimator/image.
//
// libjpeg spends more than half of its time here. This decoder looks up a code and its value
// together, 10 bits at a time, and several codes at a time where a crop needs no coefficients. It
// reads only data without faults. At the first fault it gives up, and the file is decoded again
// with libjpeg alone, so damaged files give libjpeg's pixels and errors.
#ifndef ESTIMATOR_IMAGE_HUFFMAN_JPEG_ENTROPY_H_
#define ESTIMATOR_IMAGE_HUFFMAN_JPEG_ENTROPY_H_

#include <cstdint>
#include <cstdio>  // jpeglib.h needs FILE

// clang-format off
#include <jpeglib.h>
// clang-format on

#include "estimator/image/huffman/jpeg_bits.h"

namespace estimator::image {

class HuffmanTable;

// Decodes the only scan of a file with sequential Huffman coding.
class JpegEntropyDecoder {
 public:
  // The columns of MCUs whose coefficients are needed: [first, last].
  struct Columns {
    JDIMENSION first;
    JDIMENSION last;
  };

  // From now on, libjpeg calls this object for each MCU. Does nothing if the file is of another
  // kind: progressive, with several scans, or with arithmetic coding. Sets cinfo->client_data.
  // REQUIRES: jpeg_start_decompress and jpeg_crop_scanline were called, and no row was read. The
  //   contents are all in cinfo->src. The same thread decodes the file.
  void Attach(j_decompress_ptr cinfo, Columns columns);

  // True if libjpeg's error is that this decoder found a fault.
  bool gave_up() const { return gave_up_; }

 private:
  struct Block {
    const HuffmanTable* dc;
    const HuffmanTable* ac;
    int component;
    bool needed;  // false if the component does not take part in the output
  };

  static boolean DecodeMcu(j_decompress_ptr cinfo, JBLOCKROW* mcu);
  bool Decode(j_decompress_ptr cinfo, JBLOCKROW* mcu);
  bool TakeRestart();

  JpegBits bits_;
  Block blocks_[D_MAX_BLOCKS_IN_MCU];
  int num_blocks_ = 0;
  uint32_t dc_[MAX_COMPS_IN_SCAN] = {};  // the last DC coefficient of each component
  Columns columns_ = {};
  JDIMENSION column_ = 0, row_ = 0;  // of the next MCU
  unsigned int restart_interval_ = 0, mcus_to_restart_ = 0;
  int num_restarts_ = 0;
  bool gave_up_ = false;
};

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_HUFFMAN_JPEG_ENTROPY_H_
