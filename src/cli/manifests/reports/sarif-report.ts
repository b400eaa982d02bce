import { packageVersion } from '../../../common/package-version.ts'
import { type CheckFinding, type CheckResult, findingsOf, type Severity } from '../check-finding.ts'
import { fileUri } from './file-uri.ts'

/** SARIF has no level for an undecided check: a warning does not count as passed. */
const LEVELS: Readonly<Record<Severity, string>> = {
  error: 'error',
  undecided: 'warning',
  warning: 'warning',
  note: 'note',
}

/** SARIF 2.1.0, which GitHub's code scanning and most editors read. */
export function sarifReport(result: CheckResult): string {
  const { findings } = result
  const rules = [...new Set(findings.map(({ rule }) => rule))].sort()
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'weir check', version: packageVersion(), rules: rules.map((id) => ({ id })) },
        },
        columnKind: 'utf16CodeUnits',
        invocations: [{ executionSuccessful: findingsOf(result, 'undecided').length === 0 }],
        results: findings.map((finding) => resultOf(finding, rules.indexOf(finding.rule))),
      },
    ],
  }
  return `${JSON.stringify(log, undefined, 2)}\n`
}

function resultOf({ rule, severity, message, hint, file, line, column, resource }: CheckFinding, ruleIndex: number) {
  const text = hint === undefined ? message : `${message}\nHint: ${hint}`
  return {
    ruleId: rule,
    ruleIndex,
    level: LEVELS[severity],
    message: { text },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: fileUri(file) },
          region: { startLine: line, startColumn: column },
        },
        ...(resource !== undefined && { logicalLocations: [{ fullyQualifiedName: resource, kind: 'resource' }] }),
      },
    ],
  }
}
