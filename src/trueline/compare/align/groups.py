"""Below two modules that are the same: which of their parts are, by names, signatures and likeness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from trueline.compare.align.group import Group, Trust
from trueline.compare.align.matching import Matching
from trueline.compare.align.result import Reason
from trueline.compare.align.spelling import path_likeness
from trueline.compare.align.units import (
    ENOUGH_LIKE,
    Families,
    Family,
    Unit,
    bag,
    clear_best,
    families,
    shared,
    with_open,
)

_MOST_COMPARED: Final = 32
_ENOUGH_SHARED: Final = 0.6
_NEARLY_ALL: Final = 0.7


def settle(matching: Matching, trust: Trust) -> bool:
    """Look at all matched nodes, the new ones too; True when something was found."""
    open_a, open_b = with_open(matching.a), with_open(matching.b)
    before, place = len(matching.pairs), 0
    while open_a and open_b and place < len(matching.pairs):
        above = matching.pairs[place]
        place += 1
        if above[0] in open_a and above[1] in open_b:
            _Settling(matching, above, trust).settle()
    return len(matching.pairs) > before


class _Settling(Group):
    def settle(self) -> None:
        while self.a and self.b:
            if not (
                self._by_label()
                or self._by_signature()
                or self._by_content()
                or self._open_further()
                or self._by_values()
                or self._by_order()
            ):
                return
            self.a, self.b = ([unit for unit in units if unit.free] for units in (self.a, self.b))

    def _by_label(self) -> bool:
        """Equal words with equal numbers; numbered parts whose numbers or words differ by their sequence."""
        families_a, families_b = families(self.a), families(self.b)
        found = False
        for stem in [stem for stem in families_a if stem in families_b]:
            here, there = families_a[stem], families_b[stem]
            if here.keys() == there.keys():
                for number in here:
                    a, b = here[number], there[number]
                    if stem or self.sign(a) == self.sign(b) != 0:
                        found |= self.alike(a, b) and self.take(a, b)
        return found or self._by_sequence(families_a, families_b)

    def _by_sequence(self, families_a: Families, families_b: Families) -> bool:
        """Families of as many parts, nearly all of them equal one by one, if there is just one such on each side."""
        numbered_a, numbered_b = (
            [stem for stem, one in side.items() if len(one) > 1] for side in (families_a, families_b)
        )
        candidates = [(stem, stem) for stem in families_a if stem in families_b]
        if max(len(numbered_a), len(numbered_b)) <= _MOST_COMPARED:
            candidates += [(one, other) for one in numbered_a for other in numbered_b if one != other]
        fitting = [
            (one, other)
            for one, other in candidates
            if self._in_step(families_a[one], families_b[other])
            and (len(families_a[one]) > 1 or self._only(families_a[one], families_b[other]))
        ]
        found = False
        claims_a, claims_b = (Counter(pair[side] for pair in fitting if pair[0] != pair[1]) for side in (0, 1))
        for one, other in fitting:
            # Equal words come before others.
            alone = claims_a[one] + claims_b[other] == 2 and (one not in families_b and other not in families_a)
            if one == other or alone:
                here, there = families_a[one], families_b[other]
                for m, n in zip(sorted(here), sorted(there), strict=True):
                    found |= self.alike(here[m], there[n]) and self.take(here[m], there[n])
        return found

    def _only(self, here: Family, there: Family) -> bool:
        """Whether no others are like these: a single part with another number is no sequence."""
        return not any(
            self._hidden(one, units) or any(self.sign(one) == self.sign(unit) != 0 for unit in units if unit is not one)
            for family, units in ((here, self.a), (there, self.b))
            for one in family.values()
        )

    def _in_step(self, here: Family, there: Family) -> bool:
        if len(here) != len(there):
            return False
        pairs = [(here[m], there[n]) for m, n in zip(sorted(here), sorted(there), strict=True)]
        if sum(self.sign(a) == self.sign(b) != 0 for a, b in pairs) >= _NEARLY_ALL * len(pairs):
            return True
        common = [shared(bag(a.node), bag(b.node)) for a, b in pairs]
        return min(common) >= ENOUGH_LIKE and sum(common) >= _NEARLY_ALL * len(common)

    def _by_signature(self) -> bool:
        classes_a, classes_b = self.classes(self.a), self.classes(self.b)
        found = False
        for sign in [sign for sign in classes_a if sign in classes_b]:
            here, there = classes_a[sign], classes_b[sign]
            if len(here) == len(there) == 1:
                # One that is alone only as long as larger parts stay closed is not the only one.
                if self.trust.doubles or not (self._hidden(here[0], self.a) or self._hidden(there[0], self.b)):
                    found |= self.take(here[0], there[0])
            elif self.trust.doubles:
                found |= self._by_number(here, there) or self._by_likeness(here, there)
        return found

    def _hidden(self, layer: Unit, units: Sequence[Unit]) -> bool:
        """Whether one like this layer is inside another unit."""
        if layer.core.children and not layer.own:
            return False
        inside = (node for unit in units if unit is not layer and not unit.own for node in unit.node.below())
        return any(node.leaves and node.own_signature(self.trust.loose) == self.sign(layer) for node in inside)

    def _by_content(self) -> bool:
        """Parts that hold the same layers, nested otherwise, or all but what their side has too many or too few of."""
        holding_a, holding_b = (
            [unit for unit in units if not unit.own and unit.node.owners > 1] for units in (self.a, self.b)
        )
        return self._partly_equal(holding_a, holding_b, balanced=True)

    def _by_number(self, here: Sequence[Unit], there: Sequence[Unit]) -> bool:
        """Equal parts that are numbered on both sides: by their numbers, equal or all shifted by the same."""
        labels_a, labels_b = ({unit.label: unit for unit in units} for units in (here, there))
        if not (len(here) == len(there) == len(labels_a) == len(labels_b)):
            return False
        if any(len({stem for stem, _ in labels}) > 1 for labels in (labels_a, labels_b)):
            return False
        order_a, order_b = sorted(labels_a), sorted(labels_b)
        shifts = {
            (y[-1] - x[-1], len(x), len(y)) if x and y else None
            for (_, x), (_, y) in zip(order_a, order_b, strict=True)
        }
        if len(shifts) > 1 or None in shifts:
            return False
        taken = [self.take(labels_a[x], labels_b[y]) for x, y in zip(order_a, order_b, strict=True)]
        return any(taken)

    def _by_likeness(self, here: Sequence[Unit], there: Sequence[Unit]) -> bool:
        """Each other's clearly likest names."""
        if max(len(here), len(there)) > _MOST_COMPARED:
            return False
        table = [[path_likeness(a.words, b.words) for b in there] for a in here]
        best_b = [clear_best(row) for row in table]
        best_a = [clear_best([row[place] for row in table]) for place in range(len(there))]
        taken = [self.take(here[x], there[y]) for x, y in enumerate(best_b) if y is not None and best_a[y] == x]
        return any(taken)

    def _by_values(self) -> bool:
        """Equal parts of which just one on each side holds the same values."""
        if self.trust.same is None:
            return False
        classes_a, classes_b = self.classes(self.a), self.classes(self.b)
        taken = []
        for sign in [sign for sign in classes_a if sign in classes_b]:
            here, there = classes_a[sign], classes_b[sign]
            if max(len(here), len(there)) > _MOST_COMPARED:
                continue
            table = [[self.trust.same(a.core, b.core) for b in there] for a in here]
            for x, row in enumerate(table):
                equal = [y for y, found in enumerate(row) if found]
                if len(equal) == 1 and sum(bool(other[equal[0]]) for other in table) == 1:
                    taken.append(self.take(here[x], there[equal[0]], Reason.VALUES))
        return any(taken)

    def _by_order(self) -> bool:
        """What is left, one by one, where both sides have the same sequence of what both have."""
        if not self.trust.order:
            return False
        common = {self.sign(unit) for unit in self.a} & {self.sign(unit) for unit in self.b} - {0}
        here, there = (
            sorted((unit for unit in units if self.sign(unit) in common), key=lambda unit: unit.node.order)
            for units in (self.a, self.b)
        )
        if not here or [self.sign(unit) for unit in here] != [self.sign(unit) for unit in there]:
            return False
        taken = [self.take(a, b, Reason.ORDER) for a, b in zip(here, there, strict=True)]
        return any(taken)

    def _open_further(self) -> bool:
        """Open what has no equal there and whose parts have; else take what is partly equal; else open the largest."""
        signs_a, signs_b = {self.sign(unit) for unit in self.a}, {self.sign(unit) for unit in self.b}
        lone_a = [
            unit for unit in self.a if unit.node.children and not unit.own and self.sign(unit) not in signs_b - {0}
        ]
        lone_b = [
            unit for unit in self.b if unit.node.children and not unit.own and self.sign(unit) not in signs_a - {0}
        ]
        supported = [unit for unit in lone_a if any(self.sign(one) in signs_b - {0} for one in unit.within)]
        supported += [unit for unit in lone_b if any(self.sign(one) in signs_a - {0} for one in unit.within)]
        if not supported:
            if self._partly_equal(lone_a, lone_b):
                return True
            supported = [*lone_a, *lone_b]
        # The largest first: what is inside may be the equal of a smaller one.
        largest = max((unit.node.owners for unit in supported), default=0)
        supported = [unit for unit in supported if unit.node.owners == largest]
        opened = {id(unit.node) for unit in supported}
        self.a, self.b = (
            [one for unit in units for one in (unit.within if id(unit.node) in opened else [unit])]
            for units in (self.a, self.b)
        )
        return bool(opened)

    def _partly_equal(self, lone_a: Sequence[Unit], lone_b: Sequence[Unit], balanced: bool = False) -> bool:
        """Each other's clearly likest; ``balanced``: nothing of one lies elsewhere on the other side."""
        if not lone_a or not lone_b or max(len(lone_a), len(lone_b)) > _MOST_COMPARED:
            return False
        bags_a, bags_b = [bag(a.node) for a in lone_a], [bag(b.node) for b in lone_b]
        all_a, all_b = (sum((bag(unit.node) for unit in units), Counter[int]()) for units in (self.a, self.b))
        table = [[shared(counter, other) for other in bags_b] for counter in bags_a]
        best_b = [clear_best(row, _ENOUGH_SHARED) for row in table]
        best_a = [clear_best([row[place] for row in table], _ENOUGH_SHARED) for place in range(len(lone_b))]
        taken = []
        for x, y in enumerate(best_b):
            if y is not None and best_a[y] == x:
                # A wrapper around everything is likest to everything of the other side.
                spanning = max(shared(bags_a[x], all_b), shared(all_a, bags_b[y]))
                if balanced and not (bags_a[x] - bags_b[y] <= all_a - all_b and bags_b[y] - bags_a[x] <= all_b - all_a):
                    continue
                taken.append(spanning <= table[x][y] and self.take(lone_a[x], lone_b[y]))
        return any(taken)
