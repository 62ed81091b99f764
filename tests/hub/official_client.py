"""Downloads files with the official client and prints what it got.

    python official_client.py ID REVISION FILE...

Where the hub is, where the cache lies and whether the hub may be asked is
said by the client's own environment (HF_ENDPOINT, HF_HOME, HF_HUB_OFFLINE).
Prints one JSON object: the client's version, each file's text (null for one
that the hub does not have), and what the client's own check of its cache
warns of. Run by official_client_test.cc.
"""

import json
import sys

import huggingface_hub
from huggingface_hub import errors


def download(repository, revision, name):
    try:
        path = huggingface_hub.hf_hub_download(
            repository, name, revision=revision)
    except errors.EntryNotFoundError as error:
        if isinstance(error, errors.LocalEntryNotFoundError):
            raise
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    repository, revision, *names = sys.argv[1:]
    files = {name: download(repository, revision, name) for name in names}
    scan = huggingface_hub.scan_cache_dir()
    print(json.dumps({
        "version": huggingface_hub.__version__,
        "files": files,
        "repositories": sorted(repo.repo_id for repo in scan.repos),
        "commits": sorted(
            revision.commit_hash
            for repo in scan.repos for revision in repo.revisions),
        "warnings": [str(warning) for warning in scan.warnings],
    }))


main()
