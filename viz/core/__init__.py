"""The mathematics: torch, and nothing else. Start at ``attention.py``.

One lexicon, the same letters in the code, in the formulas and on the screen:

========  =============================================================================
letter    meaning
========  =============================================================================
``B``     batch
``H``     query heads (``n_heads``)
``G``     key/value heads (``n_kv_heads``); G = H is MHA, 1 < G < H is GQA, G = 1 is MQA
``Q``     queries: the rows of every map, the tokens that ask
``K``     keys: the columns of every map, the tokens that answer
``T``     tokens, where queries and keys are the same ones
``P``     positions of a grid: samples of a signal, pixels of a picture
``d_k``   width of a query or key head
``d_v``   width of a value head
``d_model``  width of a token's vector; ``d_mem`` where keys and values come from another sequence,
             ``d_out`` where the output is of another width
``L``     layers
``E``     experts of a block with several; k of them compute a token
``M``     mask: 1 where a query may look, 0 where not
========  =============================================================================

Words: *scores* come before the softmax, *weights* after it; *allowed* is True where a query may look;
``x`` is the sequence that asks, ``memory`` the one that answers. A row vector times a matrix: Y = X W.
"""
