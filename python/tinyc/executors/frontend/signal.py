"""Windows and spectra, by numpy's own transforms."""

import numpy as np

from tinyc.executors.frontend.elementwise import NumpyFunctions
from tinyc.vocabulary.element_type import ElementType


def _cosine_window(
    shape: tuple[int, ...], element: ElementType, coefficients: tuple[float, ...], periodic: bool
) -> np.ndarray:
    (size,) = shape
    angle = 2 * np.pi * np.arange(size) / (size if periodic else max(size - 1, 1))
    return sum(((-1) ** k * each * np.cos(k * angle) for k, each in enumerate(coefficients)), np.zeros(size))


def _triangular_filters(edges: np.ndarray, bins: int, element: ElementType) -> np.ndarray:
    filters = np.zeros((bins, len(edges) - 2))
    for number, (low, center, high) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        for place in range(bins):
            if low <= place < center:
                filters[place, number] = (place - low) / (center - low)
            elif center < place < high:
                filters[place, number] = (high - place) / (high - center)
        if center < bins:
            filters[center, number] = 1
    return filters


def _dft(x: np.ndarray, axis: int, length: int | None, inverse: bool, onesided: bool) -> np.ndarray:
    axis %= x.ndim
    complex_x = x[..., 0].astype(np.float64) + (1j * x[..., 1] if x.shape[-1] == 2 else 0)
    if inverse and onesided:
        return np.fft.irfft(complex_x, length, axis)[..., None]
    found = np.fft.ifft(complex_x, length, axis) if inverse else np.fft.fft(complex_x, length, axis)
    if onesided:
        found = np.take(found, range(found.shape[axis] // 2 + 1), axis)
    return np.stack([found.real, found.imag], -1)


def _stft(x: np.ndarray, window: np.ndarray | None, frame_step: int, frame_length: int, onesided: bool) -> np.ndarray:
    starts = range(0, x.shape[1] - frame_length + 1, frame_step)
    frames = np.stack([x[:, start : start + frame_length] for start in starts], 1)
    if window is not None:
        frames = frames * window[:, None]
    return _dft(frames, 2, None, False, onesided)


IN_NUMPY: NumpyFunctions = {
    "cosine_window": _cosine_window,
    "dft": _dft,
    "stft": _stft,
    "triangular_filters": _triangular_filters,
}
