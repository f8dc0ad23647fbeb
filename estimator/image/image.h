// Everything of tf.image and the image codecs of tf.io, in one header: functions on Arrays, for the
// functions of Dataset::Map. docs/images.md is the guide.
#ifndef ESTIMATOR_IMAGE_IMAGE_H_
#define ESTIMATOR_IMAGE_IMAGE_H_

#include "estimator/image/bmp.h"
#include "estimator/image/box.h"
#include "estimator/image/color.h"
#include "estimator/image/decode_image.h"
#include "estimator/image/geometry.h"
#include "estimator/image/jpeg/jpeg.h"
#include "estimator/image/png/png.h"
#include "estimator/image/random/distorted_bounding_box.h"
#include "estimator/image/random/random_color.h"
#include "estimator/image/random/random_geometry.h"
#include "estimator/image/random/stateless_random.h"
#include "estimator/image/resize/crop_and_resize.h"
#include "estimator/image/resize/resize.h"

#endif  // ESTIMATOR_IMAGE_IMAGE_H_
