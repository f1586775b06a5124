# One image for all programs; which one runs is the command. The lines below are run without Docker as well, by
# charts/image/image.test.ts, so they stay simple: FROM, WORKDIR, COPY, RUN, and what describes the image.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS manifests
WORKDIR /svc
COPY package.json package-lock.json .npmrc tsconfig.json ./
COPY core/package.json core/
COPY http/package.json http/
COPY graphql/package.json graphql/
COPY gateway/package.json gateway/
COPY admin-graphql/package.json admin-graphql/
COPY workflows/package.json workflows/
COPY operator/package.json operator/
COPY console/package.json console/
COPY cli/package.json cli/
COPY test/package.json test/
COPY charts/image/build-steps.sh ./

FROM manifests AS packages
RUN sh build-steps.sh packages

FROM manifests AS console
RUN sh build-steps.sh console-packages
COPY graphql/tenant/schema.graphql graphql/tenant/
COPY graphql/staff/schema.graphql graphql/staff/
# The one formula of colours that the console shows before it is saved.
COPY core/storefronts/color.ts core/storefronts/
COPY console console/
RUN sh build-steps.sh console

FROM ${NODE_IMAGE}
WORKDIR /svc
# Sources lie beside node_modules and are reached by the links in it: Node strips types only outside node_modules.
COPY --from=packages /svc/node_modules node_modules/
COPY package.json ./
COPY core core/
COPY http http/
COPY graphql graphql/
COPY gateway gateway/
COPY admin-graphql admin-graphql/
COPY workflows workflows/
COPY operator operator/
COPY cli cli/
# The pages of error codes are made from it.
COPY docs/errors.md docs/
# Templates of legal texts, which the migration takes in.
COPY docs/legal docs/legal/
COPY --from=console /svc/console/dist console/dist/
COPY --from=console /svc/console/dist-staff console/dist-staff/
ENV NODE_ENV=production
# Everything above belongs to root and is only read.
USER 10001:10001
EXPOSE 8080 8081 8082 8083 9464
ENTRYPOINT []
CMD ["node", "--max-semi-space-size=16", "--no-allocation-site-pretenuring", "--v8-pool-size=0", "gateway/main.ts"]
