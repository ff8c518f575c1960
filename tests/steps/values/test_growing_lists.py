"""Lists in blocks are lists, and states share all blocks but the last."""

from mlnlab.steps.recordings.state_deltas import difference, sharing
from mlnlab.steps.values.growing_lists import BLOCK, append_item, count_items, items_after, items_of


def grown(number):
    blocks, states = (), []
    for item in range(number):
        blocks = append_item(blocks, str(item))
        states.append(blocks)
    return states


def test_blocks_are_a_list():
    states = grown(3 * BLOCK + 5)
    for number, blocks in enumerate(states, 1):
        assert list(items_of(blocks)) == [str(item) for item in range(number)]
        assert count_items(blocks) == number
        for after in {0, number // 2, number - 1, number}:
            assert list(items_after(blocks, after)) == [str(item) for item in range(after, number)]
    assert list(items_of(())) == list(items_after((), 0)) == []


def test_full_blocks_are_shared():
    *_, one, other = grown(3 * BLOCK + 5)
    assert len(one) == len(other) == 4
    assert all(mine is yours for mine, yours in zip(one[:3], other[:3], strict=True))


def test_a_value_whose_parts_are_all_its_own_is_shared_as_it_is():
    """Else a recording would compare the parts of a regrouped tuple again at each step."""
    parts = tuple(str(number) for number in range(6))
    old, new = (parts[:3], parts[3:]), (parts,)
    assert sharing(old, difference(old, new), new)[0] is parts
    longer = (*parts, "more")
    assert sharing(parts, difference(parts, longer), longer) is longer
