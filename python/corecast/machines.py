"""The machine as arrays, and plans of who talks to whom.

>>> import corecast
>>> model = corecast.machine()
>>> plan = corecast.plan("broadcast", model, effort="quick")
>>> plan.root in model.cpus
True
"""

import html
import json

from . import _corecast

__all__ = ["Machine", "Plan", "machine", "measure", "plan"]


class Machine:
    """The model of a machine: its CPUs, and what a message between every two of them costs."""

    def __init__(self, text):
        #: The model as JSON, in the format ``corecast-machine/1``.
        self.text = text
        self._fields = json.loads(text)

    @classmethod
    def load(cls, path):
        """The model in a file."""
        with open(path, encoding="utf-8") as file:
            return cls(file.read())

    @property
    def name(self):
        """Its name."""
        return self._fields["name"]

    @property
    def unit(self):
        """The unit of all costs: "ns" or "cycles"."""
        return self._fields["unit"]

    @property
    def cpus(self):
        """The ids of the CPUs, in the order of the rows of the arrays."""
        return [cpu["id"] for cpu in self._fields["cpus"]]

    @property
    def kind(self):
        """Where the costs are from: "measured", "derived" or "assumed"."""
        return self._fields["provenance"]["kind"]

    def send(self):
        """Until a sender goes on, by sender and receiver: an array of numpy in `unit`."""
        return self._matrix("send")

    def receive(self):
        """Until a receiver has a message that is there, by sender and receiver: an array of numpy in `unit`."""
        return self._matrix("receive")

    def _matrix(self, field):
        import numpy

        return numpy.array(self._fields[field], dtype=float)

    def _costs(self):
        """The whole cost of a message, by sender and receiver; masked where those are the same CPU."""
        import numpy

        return numpy.ma.masked_array(self.send() + self.receive(), numpy.eye(len(self.cpus), dtype=bool))

    def plot(self, axes=None):
        """A picture of the cost of a message between every two CPUs, by matplotlib; returns its axes."""
        pyplot = _pyplot()
        if axes is None:
            _, axes = pyplot.subplots()
        costs = self._costs()
        image = axes.imshow(costs, interpolation="nearest", cmap="YlOrRd", vmin=0)
        if len(self.cpus) <= 32:
            axes.set_xticks(range(len(self.cpus)), [str(cpu) for cpu in self.cpus])
            axes.set_yticks(range(len(self.cpus)), [str(cpu) for cpu in self.cpus])
        axes.set(title=f"{self.name}, {self.kind}", xlabel="to CPU", ylabel="from CPU")
        axes.figure.colorbar(image, ax=axes, label=f"message, {self.unit}")
        return axes

    def __repr__(self):
        return f"Machine({self.name!r}, {len(self.cpus)} CPUs, {self.kind})"

    def _repr_html_(self):
        costs, most = self._costs(), 32
        greatest = costs.max() if costs.count() else 1.0
        rows = []
        for cpu, row in list(zip(self.cpus, costs))[:most]:
            cells = "".join(_cell(cost, greatest) for cost in row[:most])
            rows.append(f"<tr><th>{cpu}</th>{cells}</tr>")
        head = "".join(f"<th>{cpu}</th>" for cpu in self.cpus[:most])
        more = f"; the first {most} of {len(self.cpus)} CPUs" if len(self.cpus) > most else ""
        caption = f"{html.escape(self.name)}, {self.kind}: a message from the CPU of the row to that of the column, in {self.unit}{more}"
        return f'<div style="overflow-x:auto">{caption}<table><tr><th></th>{head}</tr>{"".join(rows)}</table></div>'


def _cell(cost, greatest):
    """The cell of one cost: the darker, the more; readable on a light and on a dark page."""
    import numpy

    if cost is numpy.ma.masked:
        return "<td></td>"
    return f'<td style="text-align:right;background:rgba(200,80,0,{0.6 * cost / (greatest or 1.0):.2f})">{cost:.0f}</td>'


class Plan:
    """A tree along which an operation goes, and what it is predicted to cost."""

    def __init__(self, text, explanation):
        #: The plan as JSON, as ``corecast plan --json`` prints it.
        self.text = text
        self._fields = json.loads(text)
        self._explanation = explanation

    @property
    def root(self):
        """The CPU of the root."""
        return self._fields["root"]

    @property
    def children(self):
        """For each CPU that has children: theirs, in the order in which it sends."""
        return {int(cpu): list(children) for cpu, children in self._fields["children"].items()}

    @property
    def scheme(self):
        """How the members meet: "trees", "leaders", "dissemination", "release-line" or "counter"."""
        return self._fields["scheme"]

    @property
    def predicted(self):
        """The predicted time, in `unit`."""
        return self._fields["predicted"]

    @property
    def bound(self):
        """No plan of this scheme takes less; None if that was not computed."""
        return self._fields["bound"]

    @property
    def unit(self):
        """The unit of the times."""
        return self._fields["unit"]

    def explain(self):
        """The plan in words, message by message."""
        return self._explanation

    def plot(self, axes=None):
        """A picture of the tree, by matplotlib; returns its axes."""
        pyplot = _pyplot()
        if axes is None:
            _, axes = pyplot.subplots()
        places = self._places()
        for parent, children in self.children.items():
            for number, child in enumerate(children, 1):
                (x, y), (to_x, to_y) = places[parent], places[child]
                axes.plot([x, to_x], [-y, -to_y], color="gray", zorder=1)
                axes.text((x + to_x) / 2, -(y + to_y) / 2, str(number), fontsize=8, ha="center", va="center", backgroundcolor="white")
        for cpu, (x, y) in places.items():
            axes.text(x, -y, str(cpu), ha="center", va="center", color="black", bbox={"boxstyle": "circle", "facecolor": "white", "edgecolor": "gray"}, zorder=2)
        axes.set_title(f"{self._fields['op']} on {self._fields['machine']}: {self.predicted:.0f} {self.unit} predicted")
        axes.set_axis_off()
        return axes

    def _places(self):
        """For each CPU: its column, leaves side by side, and its distance from the root."""
        children, places, column = self.children, {}, 0
        stack = [(self.root, 0, False)]
        while stack:
            cpu, depth, is_done = stack.pop()
            below = children.get(cpu, [])
            if not below:
                places[cpu] = (column, depth)
                column += 1
            elif is_done:
                places[cpu] = (sum(places[child][0] for child in below) / len(below), depth)
            else:
                stack.append((cpu, depth, True))
                stack.extend((child, depth + 1, False) for child in reversed(below))
        return places

    def __repr__(self):
        return f"Plan({self._fields['op']} from CPU {self.root}, {self.predicted:.0f} {self.unit} predicted)"

    def _repr_html_(self):
        return f'<pre style="overflow-x:auto">{html.escape(self._explanation)}</pre>'


def machine():
    """The model of this machine: the one that was measured and stored (by `measure`, or ``corecast measure``), or one that is assumed
    from its topology, as its `kind` says."""
    return Machine(_corecast.machine_text())


def measure(*, quick=False, store=True):
    """Measures this machine, which takes seconds on a few CPUs and needs them idle, and returns the model. With `store` all programs of
    this user have it from then on."""
    return Machine(_corecast.measure_text(quick, store))


def plan(operation="broadcast", model=None, *, shape="auto", root=None, effort="normal", cpus=None):
    """Plans "broadcast", "reduce", "allreduce" or "barrier" on a model, by default that of this machine.

    `shape` is "auto", a static shape such as "binary", or the name of a planner; `root` the CPU to begin at; `cpus` those that take part;
    `effort` "quick", "normal" or "exact".
    """
    model = machine() if model is None else model
    text, explanation = _corecast.plan_texts(model.text, operation, shape, root, effort, cpus)
    return Plan(text, explanation)


def _pyplot():
    """The part of matplotlib that draws."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("a plot needs matplotlib: expected it to be installed, as by `pip install corecast[plots]`") from error
    return pyplot
