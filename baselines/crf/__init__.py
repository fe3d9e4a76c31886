"""CRFs for segmentation: from unary logits and the image to refined label marginals."""
