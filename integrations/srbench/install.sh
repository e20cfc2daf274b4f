#!/usr/bin/env bash
# Into the active environment; TAG is the version that is submitted.
set -euo pipefail
TAG=${TAG:-v0.1.0}
pip install "rediscover @ git+https://github.com/rediscover/rediscover@$TAG"
