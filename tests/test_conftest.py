"""Settings that every test depends on."""

from concurrent.futures import ThreadPoolExecutor

import torch


def test_torch_uses_one_thread():
    """In each worker of a test run, and in threads of their own, for which ``set_num_threads`` does not speak."""
    with ThreadPoolExecutor() as pool:
        assert torch.get_num_threads() == pool.submit(torch.get_num_threads).result() == 1
