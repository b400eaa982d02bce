import { createHash } from 'node:crypto'
import type { CheckResult, Severity } from '../check-finding.ts'
import { portablePath } from './file-uri.ts'

const SEVERITIES: Readonly<Record<Severity, string>> = {
  error: 'major',
  undecided: 'minor',
  warning: 'minor',
  note: 'info',
}

/** A code quality report of GitLab. */
export function gitlabReport({ findings }: CheckResult): string {
  const seen = new Map<string, number>()
  const issues = findings.map(({ file, line, rule, resource, message, hint, severity }) => {
    const path = portablePath(file)
    // Independent of the line, so that an issue is the same one after lines were added above it.
    const identity = JSON.stringify([path, rule, resource, message])
    const repeated = seen.get(identity) ?? 0
    seen.set(identity, repeated + 1)
    return {
      description: hint === undefined ? message : `${message} (hint: ${hint})`,
      check_name: rule,
      fingerprint: createHash('sha256').update(`${identity}${repeated}`).digest('hex'),
      severity: SEVERITIES[severity],
      location: { path, lines: { begin: line } },
    }
  })
  return `${JSON.stringify(issues, undefined, 2)}\n`
}
