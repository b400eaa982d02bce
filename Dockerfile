# The image of Weir, for linux/amd64 and linux/arm64: docker build -t weir .
#
#   docker run --read-only -p 8081:8081 weir registry --bootstrap kafka:9092 --set listeners=http://0.0.0.0:8081
ARG NODE=node:24.21.0-bookworm-slim

# Build stages run on the platform of the build machine, so no emulation is needed for another target platform.
FROM --platform=$BUILDPLATFORM ${NODE} AS program
WORKDIR /weir
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN node node_modules/typescript/bin/tsc -p tsconfig.build.json --sourceMap false --declaration false

FROM --platform=$BUILDPLATFORM ${NODE} AS modules
ARG TARGETARCH
WORKDIR /weir
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
    --os=linux --libc=glibc --cpu="$(test "$TARGETARCH" = arm64 && echo arm64 || echo x64)"
COPY scripts/prune-modules.mjs scripts/
RUN node scripts/prune-modules.mjs node_modules && mkdir data

FROM ${NODE}
ENV NODE_ENV=production
WORKDIR /weir
COPY package.json LICENSE ./
COPY --from=modules /weir/node_modules node_modules
COPY --from=program /weir/dist dist
# Mount point of a volume for --data. Nothing else is written.
COPY --from=modules --chown=65532:65532 /weir/data /data
USER 65532:65532
EXPOSE 8080 8081 8083
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "dist/cli/weir.js", "health"]
ENTRYPOINT ["node", "--max-semi-space-size=8", "/weir/dist/cli/weir.js"]
CMD ["--help"]
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Weir" \
      org.opencontainers.image.description="Manages Kafka connectors and schemas declaratively, as Kubernetes resources" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
