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
    if name in POPULAR:
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


DEVELOPMENT = frozenset({
    "asv", "babel", "bandit", "basedpyright", "black", "build", "check-manifest", "codecov", "coverage", "coveralls", "cython", "docutils",
    "flake8", "flit", "flit-core", "freezegun", "furo", "hatch", "hatch-fancy-pypi-readme", "hatch-vcs", "hatchling", "hypothesis",
    "invoke", "isort", "jinja2", "maturin", "meson-python", "mkdocs", "mkdocs-material", "mock", "mypy", "myst-parser", "nox", "numpydoc",
    "pallets-sphinx-themes", "pdm-backend", "pip", "pip-tools", "pluggy", "poetry", "poetry-core", "pre-commit", "pre-commit-uv",
    "pycodestyle", "pydocstyle", "pyflakes", "pylint", "pyright", "pytest", "pytest-asyncio", "pytest-benchmark", "pytest-codspeed",
    "pytest-cov", "pytest-mock", "pytest-randomly", "pytest-subtests", "pytest-timeout", "pytest-xdist", "pyupgrade", "ruff",
    "scikit-build-core", "setuptools", "setuptools-rust", "setuptools-scm", "sphinx", "sphinx-autobuild", "sphinx-autodoc-typehints",
    "sphinx-issues", "sphinx-rtd-theme", "sphinxcontrib-log-cabinet", "towncrier", "tox", "tox-uv", "trio", "twine", "ty", "typeguard",
    "typing-extensions", "uv", "uv-build", "versioningit", "virtualenv", "wheel", "yapf", "zizmor",
})  # fmt: skip
"""Tools of development that everybody knows: a person is asked about them where others are refused."""
