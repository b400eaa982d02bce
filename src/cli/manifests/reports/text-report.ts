import { printableText } from '../../terminal/printable-text.ts'
import { type CheckResult, findingsOf, type Severity } from '../check-finding.ts'

const LABELS: Readonly<Record<Exclude<Severity, 'note'>, string>> = {
  error: 'error',
  undecided: 'undecided',
  warning: 'warning',
}

/** One paragraph for each finding, in the form that editors recognize, and a summary. */
export function textReport(result: CheckResult): string {
  const { findings, checked, notes } = result
  const lines = findings.flatMap(({ severity, file, line, column, rule, resource, message, hint }) => {
    if (severity === 'note') return []
    const about = resource === undefined ? '' : ` ${resource}`
    const head = `${printableText(file)}:${line}:${column}: ${LABELS[severity]}: ${rule}${about}: ${printableText(message, '\n')}`
    return hint === undefined ? [head] : [head, `  hint: ${hint}`]
  })
  return [...lines, ...notes.map((note) => `note: ${note}`), summaryOf(result, checked.length), ''].join('\n')
}

function summaryOf(result: CheckResult, checked: number): string {
  const counts = (['error', 'undecided', 'warning'] as const).map((severity) =>
    counted(findingsOf(result, severity).length, severity),
  )
  const ignored = findingsOf(result, 'note').length
  const others = ignored === 0 ? '' : `; ${counted(ignored, 'document')} of other kinds ignored`
  return `${counted(checked, 'resource')} checked: ${counts.join(', ')}${others}`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 || what === 'undecided' ? '' : 's'}`
}
