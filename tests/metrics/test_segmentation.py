"""Confusion matrix, IoU and trimaps, against scikit-learn and loops."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, jaccard_score

from pacbench.data.base import Sample
from pacbench.metrics import ConfusionMatrix, SegmentationScore
from pacbench.metrics.segmentation import TRIMAP_WIDTHS, distance_to_label_edge

CLASSES = 5


def random_maps(seed, shape=(31, 43)):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, shape).astype(np.uint8)
    labels[rng.random(shape) < 0.1] = 255
    prediction = np.where(
        rng.random(shape) < 0.6, labels % CLASSES, rng.integers(0, CLASSES, shape)
    )
    return prediction.astype(np.uint8), labels


def sample_of(labels):
    return Sample("s", np.zeros((3, *labels.shape), np.uint8), labels=labels)


def test_confusion_matrix_is_scikit_learns():
    prediction, labels = random_maps(0)
    counted = labels != 255
    ours = ConfusionMatrix(CLASSES).add(prediction, labels)
    theirs = confusion_matrix(labels[counted], prediction[counted], labels=range(CLASSES))
    np.testing.assert_array_equal(ours.counts, theirs)
    np.testing.assert_allclose(
        ours.iou(), jaccard_score(labels[counted], prediction[counted], average=None)
    )
    assert ours.accuracy() == pytest.approx(accuracy_score(labels[counted], prediction[counted]))
    assert ours.mean_iou() == pytest.approx(
        jaccard_score(labels[counted], prediction[counted], average="macro")
    )


def test_classes_that_occur_nowhere_do_not_count():
    matrix = ConfusionMatrix(4).add(np.array([[0, 1]]), np.array([[0, 0]]))
    np.testing.assert_allclose(matrix.iou(), [0.5, 0.0, np.nan, np.nan])
    assert matrix.mean_iou() == 0.25


def test_nothing_counted_is_nan():
    matrix = ConfusionMatrix(3).add(np.zeros((2, 2), int), np.full((2, 2), 255))
    assert np.isnan(matrix.mean_iou())
    assert np.isnan(matrix.accuracy())


@pytest.mark.parametrize(
    ("prediction", "labels", "message"),
    [
        ([[0, 3]], [[0, 0]], "a prediction is outside 0..2: values are in 0..3"),
        ([[0, 0]], [[0, 7]], "a label is outside 0..2: values are in 0..7"),
        ([[0, -1]], [[0, 0]], "a prediction is outside 0..2: values are in -1..0"),
        ([[0]], [[0, 0]], r"the output has shape \(1, 1\), its target \(1, 2\)"),
    ],
)
def test_what_does_not_fit_is_refused(prediction, labels, message):
    with pytest.raises(ValueError, match=message):
        ConfusionMatrix(3).add(np.array(prediction), np.array(labels))


def test_split_score_is_of_the_summed_matrix_not_the_mean_of_images():
    score = SegmentationScore(CLASSES)
    images, pairs = [], [random_maps(seed, (20, 10 + 9 * seed)) for seed in range(3)]
    for prediction, labels in pairs:
        images.append(score.add(prediction, sample_of(labels))["miou"])
    prediction = np.concatenate([p.ravel() for p, _ in pairs])
    labels = np.concatenate([t.ravel() for _, t in pairs])
    counted = labels != 255
    expected = jaccard_score(labels[counted], prediction[counted], average="macro")
    assert score.result()["miou"] == pytest.approx(expected)
    assert score.result()["miou"] != pytest.approx(np.mean(images), abs=1e-9)
    np.testing.assert_allclose(np.mean(score.class_iou()), expected)


def brute_force_distance(labels):
    """Smallest distance to a pixel beside an edge, plus one."""
    height, width = labels.shape
    beside = [
        (y, x)
        for y in range(height)
        for x in range(width)
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0))
        if 0 <= y + dy < height and 0 <= x + dx < width and labels[y, x] != labels[y + dy, x + dx]
    ]
    return np.array(
        [
            [1 + min(np.hypot(y - a, x - b) for a, b in beside) for x in range(width)]
            for y in range(height)
        ]
    )


def test_distance_to_edges_is_the_brute_force_one():
    labels = np.zeros((14, 17), np.uint8)
    labels[3:9, 4:12] = 2
    labels[12:, :3] = 255
    np.testing.assert_allclose(
        distance_to_label_edge(labels), brute_force_distance(labels), atol=1e-5
    )
    assert np.isinf(distance_to_label_edge(np.zeros((3, 3), np.uint8))).all()


def test_trimap_counts_only_the_band():
    labels = np.zeros((40, 40), np.uint8)
    labels[:, 20:] = 1
    prediction = labels.copy()
    prediction[:, 17:20] = 1  # three columns wrong beside the edge
    prediction[:, :5] = 1  # and five far away from it
    metrics = SegmentationScore(2).add(prediction, sample_of(labels))
    # In a band of w columns to either side: wrong = min(w, 3), class 0 loses them, class 1 gains.
    for width in TRIMAP_WIDTHS:
        wrong = min(width, 3)
        expected = ((width - wrong) / width + width / (width + wrong)) / 2
        assert metrics[f"trimap_iou_{width}"] == pytest.approx(expected)


def test_score_needs_labels():
    with pytest.raises(ValueError, match="sample 'x' has no labels"):
        SegmentationScore(2).add(np.zeros((2, 2)), Sample("x", np.zeros((3, 2, 2), np.uint8)))
