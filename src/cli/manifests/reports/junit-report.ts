import type { CheckFinding, CheckResult } from '../check-finding.ts'

/** One test case for each resource, and one for each invalid manifest. An undecided check is an error of the test. */
export function junitReport({ findings, checked }: CheckResult): string {
  const relevant = findings.filter(({ severity }) => severity !== 'note')
  const cases = [
    ...checked.map(({ resource, file }) => ({
      name: resource as string,
      file,
      found: relevant.filter((finding) => finding.resource === resource),
    })),
    ...relevant
      .filter(({ resource }) => resource === undefined)
      .map((finding) => ({ name: `${finding.file}:${finding.line}`, file: finding.file, found: [finding] })),
  ]
  const count = (severity: CheckFinding['severity']) =>
    cases.filter(({ found }) => found.some((finding) => finding.severity === severity)).length
  const totals = `tests="${cases.length}" failures="${count('error')}" errors="${count('undecided')}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="weir check" ${totals}>`,
    `  <testsuite name="weir check" ${totals}>`,
    ...cases.map(({ name, file, found }) => testCase(name, file, found)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

const ELEMENTS = { error: 'failure', undecided: 'error', warning: 'system-out' } as const

function testCase(name: string, file: string, found: readonly CheckFinding[]): string {
  const children = found.flatMap(({ severity, rule, message, hint, line, column }) => {
    if (severity === 'note') return []
    const element = ELEMENTS[severity]
    const text = escaped(`${file}:${line}:${column}: ${message}${hint === undefined ? '' : `\nhint: ${hint}`}`)
    const attributes =
      element === 'system-out' ? '' : ` type="${escaped(rule)}" message="${escaped(firstLine(message))}"`
    return [`      <${element}${attributes}>${text}</${element}>\n`]
  })
  return `    <testcase name="${escaped(name)}" classname="${escaped(file)}">\n${children.join('')}    </testcase>`
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}

/** Characters that XML 1.0 cannot contain, not even escaped. */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
}
