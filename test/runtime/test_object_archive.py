"""Several objects as one image: an archive that other tools read, too, and of which damage is told."""

import random
import shutil
import subprocess

import pytest

from tinyc.runtime.object_archive import archive_of, objects_in

IMAGES = [b"\x7fELF" + bytes(5), b"", b"!<arch>\n", b"\x7fELF" + bytes(range(256))]


@pytest.mark.parametrize("images", [IMAGES, IMAGES[:2], [b"odd", b"even"]])
def test_what_goes_in_comes_out(images):
    assert objects_in(archive_of(images)) == images


def test_what_is_no_archive_is_an_object_by_itself():
    assert objects_in(IMAGES[0]) == IMAGES[:1]


def test_ar_reads_it(tmp_path):
    if shutil.which("ar") is None:
        pytest.skip("did not run: there is no ar")
    (tmp_path / "all.a").write_bytes(archive_of(IMAGES))
    subprocess.run(["ar", "x", "all.a"], cwd=tmp_path, check=True)
    assert [(tmp_path / f"{number}.o").read_bytes() for number in range(len(IMAGES))] == IMAGES


def test_what_is_cut_off_is_refused():
    whole = archive_of(IMAGES)
    ends = {len(archive_of(IMAGES[:count])) for count in range(len(IMAGES) + 1)}
    for end in set(range(len(archive_of([])), len(whole))) - ends:
        with pytest.raises(ValueError, match=f"is damaged, or cut off, at byte [0-9]+ of {end}$"):
            objects_in(whole[:end])


def test_damage_at_any_bit_is_refused_or_gives_other_objects_at_most():
    whole, draw = archive_of(IMAGES[:2]), random.Random(0)
    for byte in range(len(whole)):
        damaged = bytearray(whole)
        damaged[byte] ^= 1 << draw.randrange(8)
        try:
            found = objects_in(bytes(damaged))
        except ValueError:
            continue
        assert sum(map(len, found)) <= len(whole)
