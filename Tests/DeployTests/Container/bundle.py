"""Prints an OCI runtime's config.json for an image: what an engine makes of `docker run --read-only --cap-drop ALL`.

bundle.py IMAGE.json ROOT CONFIGURATION-FOLDER STATE-FOLDER. The network is that of whoever starts the runtime. The filter
of system calls is the one that Podman, Buildah and CRI-O apply by default.
"""
import json
import platform
import sys

image, root, configuration, state = sys.argv[1:]
config = json.load(open(image))["config"]
user, group = (int(part) for part in config["User"].split(":"))
machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def seccomp():
    profile = json.load(open("/usr/share/containers/seccomp.json"))
    architectures = []
    for entry in profile["archMap"]:
        if entry["architecture"] == "SCMP_ARCH_" + platform.machine().upper():
            architectures = [entry["architecture"]] + entry["subArchitectures"]
    calls = []
    for rule in profile["syscalls"]:
        includes, excludes = rule.get("includes") or {}, rule.get("excludes") or {}
        # There is no capability that would allow more.
        if includes.get("caps") or machine in excludes.get("arches", []):
            continue
        if includes.get("arches") and machine not in includes["arches"]:
            continue
        call = {"names": rule["names"], "action": rule["action"]}
        call.update({key: rule[key] for key in ("args", "errnoRet") if rule.get(key)})
        calls.append(call)
    result = {"defaultAction": profile["defaultAction"], "architectures": architectures, "syscalls": calls}
    if "defaultErrnoRet" in profile:
        result["defaultErrnoRet"] = profile["defaultErrnoRet"]
    return result


def mount(kind, destination, *options, source=None):
    return {"type": kind, "source": source or kind, "destination": destination, "options": list(options)}


print(json.dumps({
    "ociVersion": "1.0.2",
    "process": {
        "terminal": False,
        "user": {"uid": user, "gid": group},
        "args": config["Entrypoint"] + config["Cmd"],
        "env": config["Env"],
        "cwd": config.get("WorkingDir") or "/",
        "noNewPrivileges": True,
        "capabilities": {kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")},
    },
    "root": {"path": root, "readonly": True},
    "hostname": "container",
    "mounts": [
        mount("proc", "/proc", "nosuid", "noexec", "nodev"),
        mount("tmpfs", "/dev", "nosuid", "strictatime", "mode=755", "size=64k"),
        mount("sysfs", "/sys", "nosuid", "noexec", "nodev", "ro"),
        mount("bind", "/etc/resolv.conf", "rbind", "ro", source="/etc/resolv.conf"),
        mount("bind", "/etc/hosts", "rbind", "ro", source="/etc/hosts"),
        mount("bind", "/etc/reachd", "rbind", "ro", source=configuration),
        mount("bind", "/var/lib/reachd", "rbind", "rw", source=state),
    ],
    "linux": {
        "namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")],
        "seccomp": seccomp(),
        "maskedPaths": ["/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/timer_list", "/sys/firmware"],
        "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
    },
}))
