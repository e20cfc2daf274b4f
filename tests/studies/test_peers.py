"""Our implementations beside the authors' record: the same laws, and rates that can be checked by hand."""

from rediscover.problems import facts, srbench
from rediscover.report import pages
from rediscover.studies.outside import peers
from rediscover.system import derived

import numpy as np
import pandas as pd
import pytest

AFP = peers.PEERS[0]
FEW = ("feynman_I_12_1", "feynman_I_34_1", "feynman_test_9")


@pytest.fixture
def few(monkeypatch):
    chosen = {name: law for name, law in peers.laws().items() if name in FEW}
    monkeypatch.setattr(peers, "laws", lambda: chosen)
    return chosen


def test_laws_are_the_same_in_both():
    found, stated = peers.laws(), facts("srbench")
    changed = {name for name, law in srbench.laws().items() if law in {**stated["formulas"], **stated["ranges"]}}
    assert set(found) == set(srbench.ids("feynman")) - changed and len(found) == 113


def test_every_peer_has_a_record_of_its_authors():
    rates = derived.read("outside", "srbench_laws")
    assert {peer.theirs for peer in peers.PEERS} == set(rates["method"])
    assert set(peers.NOISE) == set(rates["noise"])


def test_recorded_answers_are_compared_with_the_rates_of_their_law(few):
    both = peers.compared(AFP)
    rates = derived.read("outside", "srbench_laws").query("method == 'AFP' and noise == 0").set_index("problem")
    assert list(both.index) == sorted(FEW)
    np.testing.assert_allclose(both["theirs"], rates.loc[both.index, "solution_rate"] / 100)
    answers = peers.recorded(AFP, 0.0).set_index("problem")["solution"]
    for name, law in few.items():
        assert both.loc[name, "ours"] == peers.solved(law, answers[law.id])["solved"]
    assert both.loc["feynman_I_12_1", "ours"] == 1.0 and both.loc["feynman_test_9", "ours"] == 0.0


def test_what_is_not_recorded_is_to_run(few, monkeypatch):
    peer = next(each for each in peers.PEERS if each.theirs == "AFP_FE")
    monkeypatch.setattr(peers, "PEERS", (peer,))
    found = peers.rates()
    assert found["to_run"].to_list() == [0, 3, 3] and found["laws"].to_list() == [3, 0, 0]
    np.testing.assert_allclose(found["core_hours"], np.array([0, 3, 3]) * peers.seconds_of(peer) / 3600)
    said = peers.shown(found)
    assert said["method"].to_list() == ["AFP_FE, noise 0", "AFP_FE, noise 0.001", "AFP_FE, noise 0.01"]
    assert said["to run"].str.startswith("3 runs").to_list() == [False, True, True]


def test_rates_by_hand():
    both = pd.DataFrame({"ours": [1.0, 1.0, 0.0, 0.0], "theirs": [0.5, 1.0, 0.5, 0.0]})
    found = peers._rates(both)
    assert (found["laws"], found["ours"], found["theirs"], found["difference"]) == (4, 50.0, 50.0, 0.0)
    assert (found["more"], found["fewer"]) == (1, 1) and found["low"] < 0 < found["high"]


def test_a_solved_law_by_hand():
    law = peers.laws()["feynman_I_12_1"]
    (output,) = law.outputs
    assert peers.solved(law, {output: f"2*({law.truth[output]})"}) == {"solved": 1.0}
    assert peers.solved(law, {output: f"({law.truth[output]})**2"}) == {"solved": 0.0}


def test_a_table_goes_between_its_marks(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "root", lambda: tmp_path)
    (tmp_path / "page.md").write_text("a\n<!--t-->\nold\n<!--t-->\nb\n")
    pages.put(pd.DataFrame({"x": ["p"], "y": [r"1\2"]}), "page.md", "<!--t-->")
    assert (tmp_path / "page.md").read_text() == "a\n<!--t-->\n| x | y |\n| --- | ---: |\n| p | 1\\2 |\n<!--t-->\nb\n"
    with pytest.raises(ValueError, match="twice"):
        pages.put(pd.DataFrame({"x": ["p"]}), "page.md", "<!--other-->")
