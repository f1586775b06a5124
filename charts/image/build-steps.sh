#!/bin/sh
# The steps of the image, in the folder that holds package.json: the Dockerfile runs them, and image.test.ts the same.
set -eu

npm_ci() {
  npm ci --prefer-offline --no-audit --no-fund --loglevel=error "$@"
}

case "${1:-}" in
  # What programs need at run time. The command line is not installed as a workspace: its own packages are an embedded
  # PostgreSQL and a Node, and what it shares with the programs is here anyway.
  packages)
    npm_ci --omit=dev --workspace=core --workspace=gateway --workspace=admin-graphql --workspace=workflows \
      --workspace=operator
    # Temporal's native part comes for five platforms, 27 MB each.
    find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
      ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} +
    ;;
  # What builds the console; none of it is in the image.
  console-packages)
    npm_ci --include=dev --workspace=console
    ;;
  console)
    node console/build.ts --quiet
    ;;
  *)
    echo 'usage: build-steps.sh packages|console-packages|console' >&2
    exit 2
    ;;
esac
