"""Pictures and tables of the machine and of plans."""

import sys

import pytest

import corecast

TEXT = '{"name": "a <machine>", "unit": "ns", "cpus": [%s], "provenance": {"kind": "measured"}, "send": %s, "receive": %s}'


def machine(n):
    """A model with costs that tell CPUs apart; its ids begin at 4."""
    send = [[10 * i + j if i != j else 0 for j in range(n)] for i in range(n)]
    receive = [[100 if i != j else 0 for j in range(n)] for i in range(n)]
    return corecast.Machine(TEXT % (", ".join('{"id": %d}' % (4 + i) for i in range(n)), send, receive))


def test_a_plot_needs_matplotlib_and_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for plot in (machine(3).plot, corecast.Plan('{"root": 1}', "").plot):
        with pytest.raises(ImportError, match=r"matplotlib.*corecast\[plots\]"):
            plot()


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib", reason="SKIPPED: plots: matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.mark.parametrize("n", [1, 3, 8, 40])
def test_the_costs_are_drawn_by_cpu(pyplot, tmp_path, n):
    model = machine(n)
    axes = model.plot()
    (image,) = axes.get_images()
    assert image.get_array().shape == (n, n) and (n < 3 or image.get_array()[2, 1] == 121)
    # Colours begin at 0, so that costs that are nearly the same look so.
    assert n == 1 or image.norm.vmin == 0
    # No message goes from a CPU to itself.
    assert bool(image.get_array().mask.diagonal().all())
    if n <= 32:
        assert [label.get_text() for label in axes.get_xticklabels()] == [str(4 + i) for i in range(n)]
    assert axes.get_title() == "a <machine>, measured"
    axes.figure.savefig(tmp_path / "costs.png")
    assert machine(2).plot(axes) is axes


def test_a_tree_is_drawn_from_its_root(pyplot, tmp_path):
    text = '{"root": 0, "children": {"0": [1, 2], "1": [3]}, "op": "broadcast", "machine": "m", "predicted": 12.3, "unit": "ns"}'
    axes = corecast.Plan(text, "in words").plot()
    places = {text.get_text(): text.get_position() for text in axes.texts if text.get_bbox_patch()}
    assert set(places) == {"0", "1", "2", "3"} and len(axes.lines) == 3
    height = {cpu: y for cpu, (_, y) in places.items()}
    assert height["0"] > height["1"] == height["2"] > height["3"] and places["1"][0] < places["2"][0]
    assert axes.get_title() == "broadcast on m: 12 ns predicted"
    axes.figure.savefig(tmp_path / "tree.png")


def test_a_table_for_notebooks():
    table = machine(3)._repr_html_()
    assert "a &lt;machine&gt;, measured" in table and "ns" in table and table.count("<tr>") == 4 and ">121<" in table
    assert machine(40)._repr_html_().count("<tr>") == 33 and "the first 32 of 40 CPUs" in machine(40)._repr_html_()
