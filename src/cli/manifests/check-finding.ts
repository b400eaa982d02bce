import type { FilePosition, ResourceKey } from '../../operator/simulation.ts'

/** `undecided`: nothing is wrong as far as could be checked. */
export type Severity = 'error' | 'undecided' | 'warning' | 'note'

/** What a check found. The file is relative to the working directory. */
export type CheckFinding = FilePosition & {
  readonly severity: Severity
  /** The reason of the condition `Ready` that the resource would get, or `InvalidManifest`, `DeprecatedVersion`, `Advice` or `OtherKind`. */
  readonly rule: string
  readonly resource?: ResourceKey
  readonly message: string
  /** How the user can correct the manifest. */
  readonly hint?: string
}

/** The result of checking a directory. */
export type CheckResult = {
  readonly findings: readonly CheckFinding[]
  /** Every resource that was checked, with or without findings. */
  readonly checked: readonly (FilePosition & { readonly resource: ResourceKey })[]
  /** Sentences for the user about runtimes that the check could not compare the manifests with. */
  readonly notes: readonly string[]
}

export function findingsOf({ findings }: CheckResult, severity: Severity): readonly CheckFinding[] {
  return findings.filter((finding) => finding.severity === severity)
}
