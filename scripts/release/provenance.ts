/** A file of the release with what it was made from besides the source, such as a base image. */
export type Subject = {
  readonly name: string
  readonly sha256: string
  readonly madeFrom: readonly Dependency[]
}

/** A `ResourceDescriptor` of in-toto. */
export type Dependency = {
  readonly name?: string
  readonly uri?: string
  readonly digest: Readonly<Record<string, string>>
}

export type Build = {
  readonly version: string
  readonly commit: string
  /** Where the commit can be fetched; undefined if the checkout has no public remote. */
  readonly source: string | undefined
  /** Seconds since 1970: the time of the commit, which all files have. */
  readonly sourceDateEpoch: number
  /** The programs that built it, with their versions. */
  readonly tools: Readonly<Record<string, string>>
  readonly builder: string
  /** The lock file of the packages that built it and that it contains. */
  readonly lock: Dependency
}

/**
 * An in-toto Statement with SLSA's provenance about one file. It has no times of the build and no id of the invocation, so
 * that the statements of two builds of a commit are equal. It is not signed; the workflow adds signed attestations.
 */
export function provenanceOf({ name, sha256, madeFrom }: Subject, build: Build): object {
  const source: Dependency = {
    ...(build.source !== undefined && { uri: build.source }),
    digest: { gitCommit: build.commit },
  }
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name, digest: { sha256 } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        // docs/release.md describes its parameters.
        buildType: 'urn:weir:release:v1',
        externalParameters: { version: build.version, source },
        internalParameters: { sourceDateEpoch: build.sourceDateEpoch, tools: build.tools },
        resolvedDependencies: [source, build.lock, ...madeFrom],
      },
      runDetails: { builder: { id: build.builder } },
    },
  }
}

/**
 * The address of a git remote as SLSA names it; undefined for one that only this machine can use. User names and passwords
 * are left out.
 */
export function sourceOf(remote: string): string | undefined {
  const [, host, path] = /^(?:[^@/\s]+@)?([\w.-]+):(?!\/)(\S+)$/.exec(remote) ?? []
  const url = URL.parse(host === undefined ? remote : `ssh://${host}/${path}`)
  if (url === null || !['https:', 'ssh:'].includes(url.protocol)) return undefined
  return `git+https://${url.hostname}${url.pathname.replace(/(?:\.git)?\/?$/, '')}`
}
