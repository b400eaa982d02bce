import { join } from 'node:path'
import type { ManifestDirectory, ManifestProblem, SimulatedResource } from '../../operator/simulation.ts'
import type { CheckFinding, CheckResult, Severity } from './check-finding.ts'
import { hintForIncompatibility } from './schema-hints.ts'

/** Reasons to wait for what no directory of manifests contains, or for a resource that has a finding of its own. */
const DEPENDS_ON_OTHERS: ReadonlySet<string> = new Set([
  'WaitingForInput',
  'InputMissing',
  'RegistryReadOnly',
  'ReferencePending',
  'WaitingForSubject',
])

const HINTS: Readonly<Record<string, string>> = {
  AdoptionRefused: 'if the manifest was applied before, give --against REV with the revision that is applied',
  AlreadyExists: 'if the manifest was applied before, give --against REV with the revision that is applied',
  ReferenceNotFound: 'declare the Subject in the same namespace, or refer to an existing subject by name and version',
  ReferencePending: 'mend the referenced Subject first',
  WaitingForSubject: 'declare the Subject in the same namespace, or mend it',
  WaitingForInput: 'declare the ConfigMap in this directory; what depends on it was not checked',
}

/** The findings about applying a directory. `before`: the manifests that were applied, for the position of deletions. */
export function checkResultOf(
  root: string,
  directory: ManifestDirectory,
  before: ManifestDirectory | undefined,
  outcomes: readonly SimulatedResource[],
): Omit<CheckResult, 'notes'> {
  const placed = <Found extends { readonly file: string }>(found: Found): Found => ({
    ...found,
    file: join(root, found.file),
  })
  const invalid = (severity: Severity, rule: string) => (problem: ManifestProblem) => ({ ...problem, severity, rule })
  const findings = [
    ...directory.problems.map(invalid('error', 'InvalidManifest')),
    ...outcomes.flatMap((outcome) => findingsAbout(outcome, (outcome.isDeletion && before) || directory)),
    ...directory.foreignDocuments.map(invalid('note', 'OtherKind')),
  ]
  const checked = outcomes
    .filter(({ isDeletion }) => !isDeletion)
    .map(({ key }) => ({ ...directory.locate(key), resource: key }))
  return { findings: findings.map(placed).sort(byPosition), checked: checked.map(placed).sort(byPosition) }
}

function findingsAbout(
  { key, verdict, advice, missingReferences }: SimulatedResource,
  directory: ManifestDirectory,
): readonly CheckFinding[] {
  const finding = (severity: Severity, rule: string, message: string, field?: string): CheckFinding => {
    const hint = rule === 'Incompatible' ? hintForIncompatibility(message) : HINTS[rule]
    const position = directory.locate(key, field)
    return { ...position, severity, rule, resource: key, message, ...(hint !== undefined && { hint }) }
  }
  const warnings = advice.map((message) => finding('warning', 'Advice', message, 'spec.mode'))
  switch (verdict.kind) {
    case 'accepted':
      return warnings
    case 'undecided':
      return [...warnings, finding('undecided', 'Undecided', verdict.message)]
    case 'pending': {
      const { reason, message } = verdict
      const isUndecided = DEPENDS_ON_OTHERS.has(reason) && missingReferences.length === 0
      return [...warnings, finding(isUndecided ? 'undecided' : 'error', reason, message, fieldOf(reason))]
    }
    case 'rejected': {
      const { reason, message, causes } = verdict
      if (causes.length === 0) return [...warnings, finding('error', reason, message)]
      return [...warnings, ...causes.map((cause) => finding('error', reason, cause.message, cause.field))]
    }
  }
}

/** The field that names what a resource waits for. */
function fieldOf(reason: string): string | undefined {
  if (reason.startsWith('Reference')) return 'spec.references'
  if (reason === 'WaitingForSubject') return 'spec.subjectRefs'
  return reason === 'WaitingForImportMode' ? 'spec.imports' : undefined
}

type Placed = { readonly file: string; readonly line: number; readonly column: number }

function byPosition(a: Placed, b: Placed): number {
  return compare(a.file, b.file) || a.line - b.line || a.column - b.column
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
