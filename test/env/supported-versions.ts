/** What one other program must be for Weir to work with it, and what the tests use. */
type SupportedVersions = {
  /** The oldest supported version. */
  readonly oldest: string
  /** The versions that `test/env` provides. */
  readonly tested: readonly [string, ...string[]]
}

/**
 * The versions of other programs. The parts of `test/env` provide what is `tested`, so that the tests run on nothing else,
 * and `docs/supported-versions.md` is generated from this declaration.
 */
export const SUPPORTED_VERSIONS = {
  node: { oldest: '24', tested: ['24.21.0'] },
  /** Tests use the first one unless they name another. */
  kafka: { oldest: '3.3', tested: ['4.3.1', '4.4.0', '4.1.2', '4.0.2', '3.9.2', '3.3.2'] },
  kubernetes: { oldest: '1.30', tested: ['1.36.3'] },
  helm: { oldest: '3', tested: ['3.22.0'] },
  /** The oldest server whose changes can be captured. Without Docker, tests also use the server that is installed. */
  postgres: { oldest: '10', tested: ['18.4', '17.6'] },
  /** Debian 12's server. */
  mariadb: { oldest: '10.11', tested: ['10.11'] },
  java: { oldest: '17', tested: ['17'] },
} as const satisfies Readonly<Record<string, SupportedVersions>>
