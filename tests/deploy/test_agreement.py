"""The files of ``deploy/`` agree with each other and with the program: ports, paths, users, settings, limits."""

import ipaddress
import json
import re
import subprocess
from urllib.parse import quote

import pytest

from tests.deploy.files import (
    DEPLOY,
    DOCKERFILE,
    NGINX,
    cloud_run,
    container,
    image_environment,
    kinds,
    pod,
    read,
    render,
    replicas,
    seconds,
    size,
    space,
)
from viz import ROOT, limits
from viz.container import fit_threads
from viz.host.metrics import METRICS, Metrics
from viz.host.readiness import PATHS
from viz.host.sockets import Sockets

README = (DEPLOY / "README.md").read_text("utf8")
LIMITS = (ROOT / "viz" / "limits.py").read_text("utf8")
SETTINGS = set(re.findall(r'(?:read_integer\("|names\("|"HEADLIGHT_)(\w+)"', LIMITS))
PORT = image_environment()["STREAMLIT_SERVER_PORT"]
LEFT_OUT = {
    ".ci",
    ".devcontainer",
    ".dockerignore",
    "Dockerfile",
    "app.json",
    "findings",
    "biome.json",
    "render.yaml",
    ".gitattributes",
    ".gitignore",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "bench",
    "docs",
    "Justfile",
    "biome.jsonc",
    "package.json",
    "package-lock.json",
    "README.md",
    "examples",
    "mkdocs.yml",
    "requirements-docs.txt",
    "requirements-data.txt",
    "requirements-notebook.txt",
    "SECURITY.md",
    "THIRD_PARTY.md",
    "deploy",
    "pyproject.toml",
    "setup.py",
    "requirements-dev.txt",
    "requirements.txt",
    "tests",
    "tools",
    "uv.lock",
}
"""Of the project, what no running program needs."""


def test_one_port():
    assert re.findall(r"^EXPOSE (\d+)$", DOCKERFILE, re.MULTILINE) == [PORT]
    assert set(re.findall(r"server [\d.]+:(\d+)", NGINX)) == {PORT}
    assert [port["containerPort"] for port in container()["ports"]] == [int(PORT)]
    assert space()["app_port"] == render()["envVars"]["PORT"] == cloud_run()["options"]["port"] == int(PORT)
    checks = [DOCKERFILE, *(str(service["healthcheck"]["test"]) for service in replicas().values())]
    assert {port for text in checks for port in re.findall(r"127\.0\.0\.1:(\d+)", text)} == {PORT}


def test_nginxs_port_is_published():
    (listens,) = re.findall(r"listen (\d+);", NGINX)
    assert [port.rpartition(":")[2] for port in read("compose.yaml")["services"]["proxy"]["ports"]] == [listens]


def test_health_paths_match_program():
    alive, ready = PATHS
    assert f":{PORT}{alive}'" in DOCKERFILE
    assert all(f":{PORT}{ready}'" in str(service["healthcheck"]) for service in replicas().values())
    probes = {name: container()[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
    assert {name: probe["path"] for name, probe in probes.items()} == {
        "startup": alive, "liveness": alive, "readiness": ready,
    }  # fmt: skip
    assert {probe["port"] for probe in probes.values()} == {container()["ports"][0]["name"]}


def test_metrics_path_and_token_agree():
    """Prometheus reaches each replica's metrics; nginx hides them."""
    annotations = kinds()["Deployment"]["spec"]["template"]["metadata"]["annotations"]
    assert annotations == {
        "prometheus.io/scrape": "true", "prometheus.io/path": METRICS, "prometheus.io/port": PORT,
    }  # fmt: skip
    (token,) = [entry["valueFrom"] for entry in container()["env"] if entry["name"] == "HEADLIGHT_METRICS_TOKEN"]
    secret = token["secretKeyRef"]
    assert secret["optional"] and f"create secret generic {secret['name']} --from-file {secret['key']}" in README
    assert re.search(rf"location = {METRICS} {{\s+return 404;", NGINX)
    admitted = [
        source["namespaceSelector"]["matchLabels"] for source in kinds()["NetworkPolicy"]["spec"]["ingress"][0]["from"]
    ]
    assert {"kubernetes.io/metadata.name": "monitoring"} in admitted and "(namespace `monitoring`)" in README
    families = set(re.findall(r"^# TYPE (\S+)", Metrics(Sockets(), {}).text(), re.MULTILINE))
    assert families == set(re.findall(r"`(headlight_\w+?)(?:_total)?(?:\{\w+\})?`", README))


def test_replicas_have_thread_for_each_tab():
    """Of a replica with fewer, some users' pages would stay empty."""
    for service in replicas().values():
        assert fit_threads(limits.SOCKETS, service["deploy"]["resources"]["limits"]["pids"]) == limits.SOCKETS


def test_hosts_use_valid_settings():
    """Each host builds the Dockerfile at the root, sets known settings, and probes a path that answers."""
    assert space()["sdk"] == render()["runtime"] == "docker" and render()["healthCheckPath"] in PATHS
    settings = {*render()["envVars"], *cloud_run()["env"]} - {"PORT"}
    assert {name.removeprefix("HEADLIGHT_") for name in settings} <= SETTINGS
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf8"))
    assert container["forwardPorts"] == [int(PORT)] and "requirements.lock" in container["onCreateCommand"]


def test_containers_are_unprivileged():
    (user,) = re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE)
    assert user == "1000:1000"
    for service in read("compose.yaml")["services"].values():
        assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["tmpfs"]
        assert service["security_opt"] == ["no-new-privileges:true"]
    assert {service["user"] for service in replicas().values()} == {user}
    who, may = pod()["securityContext"], container()["securityContext"]
    assert f"{who['runAsUser']}:{who['runAsGroup']}" == user and who["runAsNonRoot"]
    assert may["readOnlyRootFilesystem"] and not may["allowPrivilegeEscalation"]
    assert may["capabilities"] == {"drop": ["ALL"]}
    assert [mount["mountPath"] for mount in container()["volumeMounts"]] == ["/tmp"]


def test_image_has_needed_files():
    lines = [line for line in (ROOT / ".dockerignore").read_text("utf8").splitlines() if line and line[0] != "#"]
    assert lines[0] == "*"
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listing.returncode:
        pytest.skip("not a checkout")
    there = {file.split("/")[0] for file in listing.stdout.splitlines()}
    assert {line[1:] for line in lines if line[0] == "!"} == there - LEFT_OUT
    workdir = re.findall(r"^WORKDIR (\S+)$", DOCKERFILE, re.MULTILINE)
    assert workdir and workdir != ["/"]


def test_image_command_receives_signals():
    command = json.loads(re.findall(r"^CMD (.+)$", DOCKERFILE, re.MULTILINE)[-1])
    assert command == ["streamlit", "run", "serve.py"]
    assert (ROOT / "serve.py").is_file()
    environment = image_environment()
    assert environment["HF_HUB_OFFLINE"] == "1" and environment["OMP_NUM_THREADS"] == str(limits.TORCH_THREADS)
    assert 'FORWARDED_ALLOW_IPS=""' in DOCKERFILE


def test_every_setting_exists():
    settings = {entry["name"] for entry in container()["env"]} | set(image_environment())
    for service in replicas().values():
        settings |= set(service["environment"])
    settings |= set(re.findall(r"HEADLIGHT_\w+", README))
    ours = {name.removeprefix("HEADLIGHT_") for name in settings if name.startswith("HEADLIGHT_")}
    assert ours and ours <= SETTINGS


def test_streamlits_settings_exist():
    from streamlit import config

    valid = {f"STREAMLIT_{re.sub(r'[.]|(?=[A-Z])', '_', option).upper()}" for option in config.get_config_options()}
    assert {name for name in image_environment() if name.startswith("STREAMLIT_")} <= valid


def test_one_proxy_stands_before_the_replicas():
    """Replicas trust the X-Forwarded-For entry of their one proxy, and no other."""
    assert "X-Forwarded-For $proxy_add_x_forwarded_for" in NGINX
    proxies = [service["environment"]["HEADLIGHT_PROXIES"] for service in replicas().values()]
    proxies += [entry["value"] for entry in container()["env"] if entry["name"] == "HEADLIGHT_PROXIES"]
    assert set(proxies) == {"1"}


def test_there_is_time_to_end():
    assert all(seconds(service["stop_grace_period"]) > limits.STOPPING_SECONDS for service in replicas().values())
    waits = container()["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pod()["terminationGracePeriodSeconds"] > waits + limits.STOPPING_SECONDS


def test_replica_resources_match_limits():
    (megabytes,) = re.findall(r"`serve.py`, warm \| (\d+) MB", README)
    warm = int(megabytes) * 10**6
    sizes = {size(service["deploy"]["resources"]["limits"]["memory"]) for service in replicas().values()}
    sizes.add(size(container()["resources"]["limits"]["memory"]))
    assert len(sizes) == 1
    assert warm + limits.CACHE_BYTES + limits.FORWARD_PASSES * limits.PASS_BYTES < limits.MEMORY_BYTES
    (most,) = sizes
    assert most > 1.25 * limits.MEMORY_BYTES, "what the ceiling does not see in time has room too"
    assert f"what a replica is given | {most >> 30} GB" in README
    defaults = re.findall(r"`HEADLIGHT_MEMORY_MB` \| (\d+) \|", (ROOT / "docs" / "settings.md").read_text("utf8"))
    assert defaults == [str(limits.MEMORY_BYTES // 10**6)]
    assert f"{limits.MEMORY_BYTES / 1e9:.1f} GB" in README
    assert size(container()["resources"]["requests"]["memory"]) > warm
    cores = {service["deploy"]["resources"]["limits"]["cpus"] for service in replicas().values()}
    assert {*cores, container()["resources"]["limits"]["cpu"]} == {str(limits.FORWARD_PASSES)}


def test_nginx_limits_match_program():
    (most,) = re.findall(r"client_max_body_size (\w+);", NGINX)
    assert limits.PICTURE_BYTES < size(most) < 2 * limits.PICTURE_BYTES
    (longest,) = re.findall(r"large_client_header_buffers \d+ (\w+);", NGINX)
    link = quote("字" * limits.CHARACTERS)
    assert len(link) < size(longest) == limits.HEAD_BYTES, "a link may hold the longest text, in Chinese"


def test_nginx_lists_every_replica():
    network = read("compose.yaml")["networks"]["inside"]
    (subnet,) = (ipaddress.ip_network(entry["subnet"]) for entry in network["ipam"]["config"])
    addresses = [service["networks"]["inside"]["ipv4_address"] for service in replicas().values()]
    assert len(set(addresses)) == 3 and all(ipaddress.ip_address(address) in subnet for address in addresses)
    pools = dict(re.findall(r"upstream (\w+) \{(.*?)\}", NGINX, re.DOTALL))
    assert set(pools) == {"any", "a", "b", "c"}
    for name, pool in pools.items():
        assert sorted(re.findall(r"server ([\d.]+):", pool)) == addresses
        assert pool.count("max_fails=1 fail_timeout=5s") == (3 if name == "any" else 1)
    replica_map = re.findall(r"~([\d\\.]+):\d+\$ (\w);", NGINX)
    assert [
        (address.replace("\\", ""), pools[pool].split("server ")[1].split(":")[0]) for address, pool in replica_map
    ] == [(address, address) for address in addresses]


def test_nothing_leaves():
    networks = read("compose.yaml")["networks"]
    assert all(list(service["networks"]) == ["inside"] for service in replicas().values())
    assert networks["inside"]["internal"] is True
    policy = kinds()["NetworkPolicy"]["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"] and policy["egress"] == []


def test_the_manifests_mean_each_other():
    labels = kinds()["Deployment"]["spec"]["template"]["metadata"]["labels"]
    selectors = [
        kinds()["Deployment"]["spec"]["selector"]["matchLabels"],
        kinds()["Service"]["spec"]["selector"],
        kinds()["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
        kinds()["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
        pod()["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"],
    ]
    assert all(selector == labels for selector in selectors)
    (port,), (rule,) = kinds()["Service"]["spec"]["ports"], kinds()["Ingress"]["spec"]["rules"]
    assert port["targetPort"] == container()["ports"][0]["name"]
    assert kinds()["NetworkPolicy"]["spec"]["ingress"][0]["ports"] == [{"port": port["targetPort"]}]
    backend = rule["http"]["paths"][0]["backend"]["service"]
    assert backend == {"name": kinds()["Service"]["metadata"]["name"], "port": {"name": port["name"]}}
    target = kinds()["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) == ("Deployment", kinds()["Deployment"]["metadata"]["name"])
    hosts = [entry["value"] for entry in container()["env"] if entry["name"] == "HEADLIGHT_HOSTS"]
    assert hosts == [rule["host"]] == kinds()["Ingress"]["spec"]["tls"][0]["hosts"]
    least = kinds()["HorizontalPodAutoscaler"]["spec"]["minReplicas"]
    assert least > kinds()["PodDisruptionBudget"]["spec"]["maxUnavailable"]


def test_cookie_pins_replica():
    sticky = "traefik.ingress.kubernetes.io/service.sticky.cookie"
    annotations = kinds()["Service"]["metadata"]["annotations"]
    assert annotations[sticky] == annotations[f"{sticky}.httponly"] == "true"
    assert kinds()["Ingress"]["spec"]["ingressClassName"] == "traefik"
    assert f"$cookie_{annotations[f'{sticky}.name']} " in NGINX


def test_readme_names_every_file():
    links = set(re.findall(r"\]\(([\w./-]+)\)", README))
    links |= set(re.findall(r"(?<![\w/])(?:deploy|tests)/[\w./-]+", README))
    for name in links:
        assert (DEPLOY / name).exists() or (ROOT / name).exists(), name
    there = {str(path.relative_to(DEPLOY)) for path in DEPLOY.rglob("*") if path.is_file()}
    assert there - {"README.md"} <= {name.removeprefix("deploy/") for name in links}
    assert "(deploy/README.md)" in (ROOT / "README.md").read_text("utf8")
