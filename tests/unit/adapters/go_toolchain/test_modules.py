"""Which modules of a base must be fetched, and which bases are refused."""

from __future__ import annotations

import pytest

from gatekeeper.adapters.go_toolchain.modules import module_folder, wanted
from gatekeeper.domain.tree import MemoryTree
from gatekeeper.errors import CouldNotCheck

NEEDS = "module example.com/m\n\ngo 1.21\n\nrequire example.com/a v1.0.0\n"
SUM = "example.com/a v1.0.0 h1:x\n"


def folders(files, asked=("",)):
    return wanted(MemoryTree.of(files), list(asked)).folders


def test_nothing_to_fetch():
    assert folders({"go.mod": "module example.com/m\n"}) == ()
    assert folders({"go.mod": NEEDS, "vendor/modules.txt": "# example.com/a v1.0.0\n"}) == ()
    assert folders({"go.mod": NEEDS + "replace example.com/a => ./a\n", "a/go.mod": "module example.com/a\n"}) == ()


def test_what_go_sum_names_is_fetched():
    found = wanted(MemoryTree.of({"go.mod": NEEDS, "go.sum": SUM, "testdata/go.mod": "module x\n", "a.go": "x"}), [""])
    assert found.folders == ("",)
    assert set(found.files) == {"go.mod", "go.sum"}


def test_a_workspace():
    work = "go 1.21\n\nuse (\n\t./a\n\t./b\n)\n"
    files = {
        "go.work": work,
        "a/go.mod": NEEDS.replace("/m", "/own"),
        "a/go.sum": SUM,
        "b/go.mod": "module example.com/a\n",
    }
    assert folders(files) == ()  # the other member is the module
    files["b/go.mod"] = "module example.com/b\n"
    assert folders(files) == ("",)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"go.mod": NEEDS}, "no go.sum"),
        ({"go.mod": NEEDS + "replace example.com/a => ../a\n", "go.sum": SUM}, "outside the tree"),
        ({"go.mod": NEEDS + "replace example.com/a => /etc\n", "go.sum": SUM}, "outside the tree"),
        ({"go.work": "use ../x\n", "go.mod": "module m\n"}, "outside the tree"),
        ({"go.mod": "require (\n"}, "never closed"),
    ],
)
def test_a_base_that_cannot_be_prepared_blames_the_environment(files, words):
    with pytest.raises(CouldNotCheck) as caught:
        folders(files)
    assert words in caught.value.message
    assert (caught.value.code, caught.value.blame) == ("ENVIRONMENT_FAILED", "environment")
    assert caught.value.next_action


@pytest.mark.parametrize(
    ("files", "workdir", "found"),
    [
        ({"go.mod": ""}, ".", ""),
        ({"go.mod": ""}, "cmd/x", ""),
        ({"server/go.mod": ""}, "server/api", "server"),
        ({"go.work": "", "server/go.mod": ""}, "server", ""),
        ({"server/go.mod": ""}, ".", None),
    ],
)
def test_the_module_of_a_directory(files, workdir, found):
    assert module_folder(MemoryTree.of(files), workdir) == found
