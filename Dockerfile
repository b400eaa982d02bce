# The images of Weir, for linux/amd64 and linux/arm64. The second one contains Java, for Java plugins:
#
#   docker build -t weir .
#   docker build -t weir:java --target java .
#
#   docker run --read-only -p 8081:8081 weir registry --bootstrap kafka:9092 --set listeners=http://0.0.0.0:8081
ARG NODE=node:24.21.0-bookworm-slim

# Build stages run on the platform of the build machine, so no emulation is needed for another target platform.
FROM --platform=$BUILDPLATFORM ${NODE} AS program
WORKDIR /weir
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY scripts/build.mjs scripts/
COPY src src
RUN node scripts/build.mjs --code

FROM --platform=$BUILDPLATFORM ${NODE} AS modules
ARG TARGETARCH
WORKDIR /weir
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
    --os=linux --libc=glibc --cpu="$(test "$TARGETARCH" = arm64 && echo arm64 || echo x64)"
COPY scripts/prune-modules.mjs scripts/
RUN node scripts/prune-modules.mjs node_modules && mkdir data

FROM --platform=$BUILDPLATFORM ${NODE} AS jdk
# The package does not install without the directory, which slim images lack.
RUN mkdir -p /usr/share/man/man1 && apt-get update && \
    apt-get install --yes --no-install-recommends openjdk-17-jdk-headless

# docs/adr/0006-image-and-charts.md states why these modules. Uncompressed, because a JVM then needs 5 MB less memory.
FROM jdk AS jre
ARG TARGETARCH
WORKDIR /jre
RUN dpkg --add-architecture "$TARGETARCH" && apt-get update && apt-get download "openjdk-17-jdk-headless:$TARGETARCH" && \
    dpkg -x openjdk-17-jdk-headless_*.deb target && \
    jlink --module-path target/usr/lib/jvm/*/jmods --output /opt/java --no-header-files --no-man-pages --add-modules \
java.se,jdk.charsets,jdk.crypto.cryptoki,jdk.crypto.ec,jdk.httpserver,jdk.jcmd,jdk.jfr,jdk.localedata,jdk.management,\
jdk.management.agent,jdk.naming.dns,jdk.net,jdk.security.auth,jdk.security.jgss,jdk.unsupported,jdk.xml.dom,jdk.zipfs

FROM --platform=$BUILDPLATFORM ${NODE} AS libraries
WORKDIR /weir
COPY src/common/errors.ts src/common/
COPY src/java/maven/coordinates.ts src/java/maven/
COPY java/host/*.json java/host/
COPY scripts/download-java-libraries.mjs scripts/
ARG MAVEN_REPOSITORY=https://repo.maven.apache.org/maven2
RUN node scripts/download-java-libraries.mjs libraries

FROM jdk AS host
WORKDIR /weir
COPY --from=libraries /weir/libraries libraries
COPY java/host/src java/host/src
COPY scripts/build-java-host.mjs scripts/
RUN node scripts/build-java-host.mjs lib "$(echo libraries/*.jar | tr ' ' ':')" \
    "$(echo libraries/resolver/*.jar | tr ' ' ':')"

FROM ${NODE} AS weir
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

FROM weir AS java
# Java 17 takes its default encoding from the locale.
ENV JAVA_HOME=/opt/java LANG=C.UTF-8
COPY --from=jre /opt/java /opt/java
COPY --from=host /weir/lib java/host/lib

# Without --target, the image is the one without Java.
FROM weir
