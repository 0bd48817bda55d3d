"""The folder of estimates: what is kept is found again; damaged and foreign files are as if they were not there."""

import pytest

from ptxsim.clock.ranking.estimate_store import EstimateStore, Predicted
from ptxsim.errors import FileError

REFUSED = Predicted(None, "line 3: no")


def test_what_is_kept_is_found_by_another_store(tmp_path):
    EstimateStore(tmp_path / "new" / "folder").keep("12ab", REFUSED)
    store = EstimateStore(tmp_path / "new" / "folder")
    assert store.find("12ab") == REFUSED
    assert store.find("12ac") is None


def test_files_come_whole_and_nothing_else_stays(tmp_path):
    store = EstimateStore(tmp_path)
    store.keep("12ab", Predicted(None, "first"))
    store.keep("12ab", REFUSED)
    assert [path.name for path in tmp_path.iterdir()] == ["12ab.json"]
    assert store.find("12ab") == REFUSED


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, '{"digest": "12ab"}', "\0", '{"digest": "12ab", "predicted": {}}']
)
def test_a_damaged_file_is_as_if_it_were_not_there_and_is_written_anew(tmp_path, text):
    (tmp_path / "12ab.json").write_text(text)
    store = EstimateStore(tmp_path)
    assert store.find("12ab") is None
    store.keep("12ab", REFUSED)
    assert store.find("12ab") == REFUSED


def test_a_file_that_is_no_text_is_as_if_it_were_not_there(tmp_path):
    (tmp_path / "12ab.json").write_bytes(b"\xff\xfe\xff")
    assert EstimateStore(tmp_path).find("12ab") is None


def test_the_file_of_another_launch_is_not_taken(tmp_path):
    store = EstimateStore(tmp_path)
    store.keep("12ab", REFUSED)
    (tmp_path / "12ab.json").rename(tmp_path / "34cd.json")
    assert store.find("34cd") is None


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path):
    (tmp_path / "12ab.json").mkdir()
    store = EstimateStore(tmp_path)
    store.keep("12ab", REFUSED)
    assert store.find("12ab") is None
    assert [path.name for path in tmp_path.iterdir()] == ["12ab.json"]


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="estimates cannot be kept here"):
        EstimateStore(tmp_path / "file")
