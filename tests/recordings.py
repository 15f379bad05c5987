# SPDX-License-Identifier: MIT
"""Recordings that tests read: those outside the project, and those made of fixtures.

    sys.path.insert(0, str(HERE.parent))
    from recordings import NO_CORPUS, corpus_files, load_fixtures

    paths = corpus_files('perf-*.data')         # sorted; none without a corpus
    if not paths:
        skip('recordings of other machines', NO_CORPUS)
    cases = load_fixtures().parse('x.fix')      # tests/unit/perfdata/fixtures.py

The corpus is a folder of recordings of other machines and tools; SONDE_CORPUS names it. The
reference is a folder of perf's recordings with its output; SONDE_REFERENCE names it. Tests skip
what needs a folder that is missing.
"""
import importlib.util
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def outside(variable, name):
    """The folder that the variable names; by default shared/NAME one or two levels higher.

    None if the variable is not set and neither folder exists.
    """
    if os.environ.get(variable):
        return pathlib.Path(os.environ[variable])
    places = [above / 'shared' / name for above in (ROOT.parent, ROOT.parent.parent)]
    return next((p for p in places if p.is_dir()), None)


CORPUS = outside('SONDE_CORPUS', 'corpus')
REFERENCE = outside('SONDE_REFERENCE', 'reference')
NO_CORPUS = ('no such recordings in %s' % CORPUS if CORPUS else
             'no corpus: set SONDE_CORPUS to its folder')
NO_REFERENCE = 'no reference: set SONDE_REFERENCE to its folder'


def corpus_files(pattern):
    """Sorted paths of the corpus that match the pattern."""
    return sorted(CORPUS.glob(pattern)) if CORPUS else []


def stored_and_corpus():
    """The perf.data of tests/data, and those of the corpus that are not noise from fuzzers."""
    return sorted((ROOT / 'tests' / 'data').rglob('*.data')) + \
        [p for p in corpus_files('perf-*.data') if not p.name.startswith('perf-fuzz')]


def load_fixtures():
    """The module that the second argument of the test names: it builds recordings from fixtures."""
    spec = importlib.util.spec_from_file_location('fixtures', sys.argv[2])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
