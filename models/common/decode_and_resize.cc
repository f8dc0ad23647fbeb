#include "models/common/decode_and_resize.h"

#include <utility>

namespace estimator {

Dataset DecodeAndResize(const Dataset& dataset, image::ImageSize size,
                        std::vector<std::string> kept) {
  const auto make = [size,
                     kept = std::move(kept)](const Element& example) -> absl::StatusOr<Element> {
    EST_ASSIGN_OR_RETURN(Array image, example.features.Get("image"));
    if (image.dtype() == DType::kString) {
      EST_ASSIGN_OR_RETURN(image, image::DecodeImage(image.scalar<std::string>(), {.channels = 3}));
    }
    Element made{.features = {}, .labels = example.labels};
    EST_ASSIGN_OR_RETURN(made.features["image"], image::ResizeToUint8(image, size));
    for (const std::string& name : kept) {
      EST_ASSIGN_OR_RETURN(made.features[name], example.features.Get(name));
    }
    return made;
  };
  return dataset.Map(make, {.num_parallel_calls = kAutotune});
}

}  // namespace estimator
