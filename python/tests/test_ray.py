"""Experiments on a local cluster of several nodes, one of which is lost on the way."""

import subprocess
import sys
import threading
import time

import pytest

import mmascope

ray = pytest.importorskip("ray", reason="Ray is not installed; runs over many machines were not tested")

ROW = mmascope.find("h100", "mma.m16n8k8.f32.f16.f16.f32")
OTHER = mmascope.find("a100", "mma.m16n8k8.f32.f16.f16.f32")


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes = [made.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=made.address, log_to_driver=False)
    made.nodes_to_lose = nodes
    yield made
    ray.shutdown()
    made.shutdown()


def test_a_lost_machine_changes_nothing(cluster, tmp_path):
    def slow(a, b, c):
        time.sleep(0.01)
        return OTHER.matmul(a[:, None, :], b[:, :, None], c[:, None, None])[:, 0, 0]

    whole = mmascope.validate(slow, ROW, trials=400_000)
    lost = threading.Event()
    journal = tmp_path / "run.jsonl"

    def lose():
        # After the first results, and before the last ones.
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if journal.exists() and journal.read_bytes().count(b"\n") >= 2:
                cluster.remove_node(cluster.nodes_to_lose[0], allow_graceful=False)
                lost.set()
                return
            time.sleep(0.05)

    thread = threading.Thread(target=lose)
    thread.start()
    found = mmascope.ray.validate(slow, ROW, trials=400_000, part=20_000, journal=journal)
    thread.join()
    assert lost.is_set()
    # The cluster itself takes a while to say so.
    end = time.monotonic() + 60
    while sum(node["Alive"] for node in ray.nodes()) != 2:
        assert time.monotonic() < end, "the node is not lost"
        time.sleep(0.2)
    assert found.to_json() == whole.to_json() and found.state == whole.state and whole["mismatches"] > 0
    # Another driver finds everything in the journal.
    again = mmascope.ray.validate(slow, ROW, trials=400_000, part=20_000, journal=journal)
    assert again.to_json() == whole.to_json()


def test_every_experiment_gives_what_one_machine_gives(cluster, tmp_path):
    given = {"types": "f16,f16,f32", "family": "close", "count": 600}
    one, many = mmascope.diff("a100", "h100", **given), mmascope.ray.diff("a100", "h100", part=100, **given)
    assert one.to_json() == many.to_json() and one.svg() == many.svg()
    given = {"types": "f16,f16,f32", "shape": (4, 4, 64)}
    assert mmascope.error("a100", "h100", **given).to_json() == mmascope.ray.error("a100", "h100", **given).to_json()
    path = tmp_path / "lines.jsonl"
    done = subprocess.run(
        [sys.executable, "-m", "mmascope", "eval", "--arch", "hopper", "--inst", ROW.name, "-"], capture_output=True,
        text=True, timeout=60, check=False,
        input=subprocess.run([sys.executable, "-m", "mmascope", "gen", "--arch", "hopper", "--inst", ROW.name, "--family",
                              "normal", "--count", "300"], capture_output=True, text=True, timeout=60, check=True).stdout,
    )
    path.write_text(done.stdout)
    one = mmascope.check(path)
    assert one["passed"] == 300 and one.to_json() == mmascope.ray.check(path, lines=70).to_json()


def test_rows_of_ones_own_reach_the_workers(cluster):
    mmascope.load_isa(
        "arch raychip = rc1\n"
        "dot.{shape}.{d}.{a} | f16 x f16 + f32 -> f32 | m8n8k4 | t-fdpa L=4 F=20 e0=-126 -> rz f32 | open\n"
    )
    found = mmascope.ray.infer_all(["rc1"])
    assert found and found["instructions"] == 1 and found.to_json() == mmascope.infer_all(["rc1"]).to_json()


def test_errors_of_workers_are_errors_here(cluster):
    with pytest.raises(mmascope.DeviceError, match="ZeroDivisionError"):
        mmascope.ray.validate(lambda a, b, c: 1 // 0, ROW, trials=1000)
    with pytest.raises(mmascope.ArgumentError, match="^cpus"):
        mmascope.ray.validate(ROW, ROW, trials=1000, cpus=0)


def test_ray_comes_when_it_is_asked_for():
    code = "import sys, mmascope; print('ray' in sys.modules); mmascope.ray; print('ray' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.split() == ["False", "True"]
