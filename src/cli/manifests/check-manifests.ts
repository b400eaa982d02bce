import { join } from 'node:path'
import { deprecationWarning } from '../../common/resource-api.ts'
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
  PluginNotFound: 'install it in a directory of plugin.path of the workers, for example with weir plugins install',
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
  // The findings of a file in a row, because its fields are located in its text, which is parsed once for all of them.
  const byFile = outcomes
    .map((outcome) => {
      const declaring = (outcome.isDeletion && before) || directory
      return { outcome, declaring, position: declaring.locate(outcome.key) }
    })
    .sort((a, b) => byPosition(a.position, b.position))
  const findings = [
    ...directory.problems.map(invalid('error', 'InvalidManifest')),
    ...byFile.flatMap(({ outcome, declaring }) => findingsAbout(outcome, declaring)),
    ...deprecationsIn(directory),
    ...directory.foreignDocuments.map(invalid('note', 'OtherKind')),
  ]
  const checked = outcomes
    .filter(({ isDeletion }) => !isDeletion)
    .map(({ key }) => ({ ...directory.locate(key), resource: key }))
  return { findings: findings.map(placed).sort(byPosition), checked: checked.map(placed).sort(byPosition) }
}

function deprecationsIn({ deprecatedVersions, locate }: ManifestDirectory): readonly CheckFinding[] {
  return [...deprecatedVersions].map(([resource, apiVersion]) => {
    const position = locate(resource, 'apiVersion')
    return {
      ...position,
      severity: 'warning',
      rule: 'DeprecatedVersion',
      resource,
      message: deprecationWarning(apiVersion),
    }
  })
}

function findingsAbout(
  { key, verdict, advice, ineffective, missingReferences }: SimulatedResource,
  directory: ManifestDirectory,
): readonly CheckFinding[] {
  const finding = (severity: Severity, rule: string, message: string, ...fields: string[]): CheckFinding => {
    const hint = rule === 'Incompatible' ? hintForIncompatibility(message) : HINTS[rule]
    const position = directory.locate(key, ...fields)
    return { ...position, severity, rule, resource: key, message, ...(hint !== undefined && { hint }) }
  }
  const warnings = [
    ...advice.map((message) => finding('warning', 'Advice', message, 'spec.mode')),
    ...ineffective.map((message) => finding('warning', 'UnknownKey', message, 'spec.config')),
  ]
  switch (verdict.kind) {
    case 'accepted':
      return warnings
    case 'undecided':
      return [...warnings, finding('undecided', 'Undecided', verdict.message)]
    case 'pending': {
      const { reason, message } = verdict
      const isUndecided = DEPENDS_ON_OTHERS.has(reason) && missingReferences.length === 0
      return [...warnings, finding(isUndecided ? 'undecided' : 'error', reason, message, ...fieldsOf(reason))]
    }
    case 'rejected': {
      const { reason, message, causes } = verdict
      if (causes.length === 0) return [...warnings, finding('error', reason, message)]
      return [...warnings, ...causes.map((cause) => finding('error', reason, cause.message, cause.field))]
    }
  }
}

/** The fields that may name what a resource waits for. */
function fieldsOf(reason: string): readonly string[] {
  if (reason.startsWith('Reference')) return ['spec.references']
  return WAITING_FIELDS[reason] ?? []
}

const WAITING_FIELDS: Readonly<Record<string, readonly string[]>> = {
  WaitingForSubject: ['spec.subjectRefs'],
  WaitingForImportMode: ['spec.imports'],
  WaitingForInput: ['spec.schemaFrom', 'spec.imports', 'spec.configFrom', 'spec.valuesFrom', 'spec.offsets'],
  InputMissing: ['spec.schemaFrom', 'spec.imports', 'spec.configFrom', 'spec.valuesFrom', 'spec.offsets'],
}

type Placed = { readonly file: string; readonly line: number; readonly column: number }

function byPosition(a: Placed, b: Placed): number {
  return compare(a.file, b.file) || a.line - b.line || a.column - b.column
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
