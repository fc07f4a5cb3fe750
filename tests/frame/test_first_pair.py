"""The pair of words that is selected by default."""

import torch

from viz.frame.first_pair import first_key, first_query

PLAIN = (False,) * 5


def pair(labels, special, weights):
    query = first_query(labels, special, weights)
    return query, first_key(labels, special, weights, query)


def test_famous_pair_in_any_tokenizer():
    weights = torch.eye(5)
    assert pair(("The", "animal", "is", "it", "."), PLAIN, weights) == (3, 1)
    assert pair(("␣Animal", "x", "␣IT", "y", "z"), PLAIN, weights) == (2, 0)
    assert pair(("␣这", "动物", "太", "，", "它"), PLAIN, weights) == (4, 1)


def test_strongest_link_between_two_words():
    weights = torch.full((5, 5), 0.1)
    weights[0, 1] = weights[1, 4] = weights[2, 2] = 0.9  # to and from special tokens, and to itself: not counted
    weights[3, 1] = 0.3
    special = (True, False, False, False, True)
    assert pair(("[CLS]", "a", "it", "b", "[SEP]"), special, weights) == (3, 1)


def test_selected_query_keeps_strongest_link():
    weights = torch.tensor([[0.2, 0.5, 0.3], [0.9, 0.0, 0.1], [0.3, 0.3, 0.4]])
    assert first_key(("it", "has", "animal"), PLAIN[:3], weights, 0) == 2
    assert first_key(("it", "has", "animal"), PLAIN[:3], weights, 1) == 0


def test_lone_token_pairs_with_itself():
    assert pair(("word",), PLAIN[:1], torch.ones(1, 1)) == (0, 0)
