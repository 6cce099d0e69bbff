# The image of Drawbridge: one image for every role, which is its argument (start, serve, work, migrate and each other command).
# docs/CONTAINERS.md describes it. Another base needs Node 24 and glibc: --build-arg NODE_IMAGE=…
ARG NODE_IMAGE=node:24-trixie-slim

# The console, which packages for development build.
FROM ${NODE_IMAGE} AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY console ./console
RUN node console/build.ts

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts
# SDKs of clouds for pipelines, such as `@google-cloud/pubsub@5.3.1` (docs/PIPELINES.md).
ARG EXTRA_PACKAGES=
RUN [ -z "$EXTRA_PACKAGES" ] || npm install --no-save --omit=dev --ignore-scripts $EXTRA_PACKAGES
COPY scripts ./scripts
RUN node scripts/trim-packages.mjs --image node_modules
COPY bin ./bin
COPY docs ./docs
COPY migrations ./migrations
COPY src ./src
COPY --from=console /app/console/dist ./console/dist
# The second command makes the links between libraries of the bundled PostgreSQL, which cannot be made while the file system is read-only.
RUN node scripts/build-package.ts \
  && node --eval "import('./dist/src/platform/embedded-postgres/account.js').then((account) => account.findBinaries())"

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Drawbridge" \
  org.opencontainers.image.description="Self-hosted server for laboratory testing and health data" \
  org.opencontainers.image.licenses="Apache-2.0"
# Health, readiness and metrics are at OPERATOR_PORT, which is not for clients.
ENV NODE_ENV=production \
  MALLOC_ARENA_MAX=1 \
  HOST=0.0.0.0 \
  PORT=8080 \
  OPERATOR_PORT=8081 \
  DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/bin ./bin
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
RUN install --directory --owner=1000 --group=1000 --mode=0700 /data dist/node_modules dist/node_modules/.cache \
  && ln -s /app/bin/drawbridge.mjs /usr/local/bin/drawbridge
USER 1000:1000
# Compiled code, made by the account and with the options that will read it, so that no start compiles.
RUN ["node", "--max-semi-space-size=8", "--v8-pool-size=1", "dist/src/cli/entry.js", "--compile"]
EXPOSE 8080 8081
VOLUME ["/data"]
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["node", "/app/bin/healthcheck.mjs"]
ENTRYPOINT ["node", "--max-semi-space-size=8", "--v8-pool-size=1", "/app/dist/src/cli/entry.js"]
CMD ["start"]
