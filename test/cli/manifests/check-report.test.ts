import { describe, expect, it } from 'vitest'
import type { CheckResult } from '../../../src/cli/manifests/check-finding.ts'
import { CHECK_REPORTS } from '../../../src/cli/manifests/reports/check-report.ts'

const RESULT: CheckResult = {
  findings: [
    {
      file: 'm/a b.yaml',
      line: 9,
      column: 17,
      severity: 'error',
      rule: 'Incompatible',
      resource: 'Subject/default/orders',
      message: 'first line, 100%\n::error::"<&> \u0000\ud800',
      hint: 'give it a default',
    },
    { file: 'm/b.yaml', line: 1, column: 1, severity: 'undecided', rule: 'Undecided', message: 'no answer' },
    { file: 'm/c.yaml', line: 2, column: 1, severity: 'note', rule: 'OtherKind', message: 'a Service' },
  ],
  checked: [
    { file: 'm/a b.yaml', line: 1, column: 1, resource: 'Subject/default/orders' },
    { file: 'm/d.yaml', line: 1, column: 1, resource: 'Connector/default/fine' },
  ],
  notes: ['registry default counts as empty'],
}

describe('the report of a check', () => {
  it('as text names the position, the reason and a hint, and ends with a summary', () => {
    const lines = CHECK_REPORTS.text(RESULT).split('\n')
    expect(lines[0]).toBe('m/a b.yaml:9:17: error: Incompatible Subject/default/orders: first line, 100%')
    expect(lines.slice(2)).toEqual([
      '  hint: give it a default',
      'm/b.yaml:1:1: undecided: Undecided: no answer',
      'note: registry default counts as empty',
      '2 resources checked: 1 error, 1 undecided, 0 warnings; 1 document of other kinds ignored',
      '',
    ])
  })

  it('as JSON contains all findings', () => {
    expect(JSON.parse(CHECK_REPORTS.json(RESULT))).toEqual(RESULT)
  })

  it('as SARIF has the members that its schema requires, and does not count as passed when undecided', () => {
    const { version, runs } = JSON.parse(CHECK_REPORTS.sarif(RESULT))
    expect(version).toBe('2.1.0')
    expect(runs).toHaveLength(1)
    const [{ tool, results, invocations }] = runs
    expect(invocations).toEqual([{ executionSuccessful: false }])
    expect(tool.driver.rules).toEqual([{ id: 'Incompatible' }, { id: 'OtherKind' }, { id: 'Undecided' }])
    expect(results.map((result: { level: string; ruleIndex: number }) => [result.level, result.ruleIndex])).toEqual([
      ['error', 0],
      ['warning', 2],
      ['note', 1],
    ])
    expect(results[0]).toMatchObject({
      ruleId: 'Incompatible',
      message: { text: expect.stringContaining('Hint: give it a default') },
      locations: [
        { physicalLocation: { artifactLocation: { uri: 'm/a%20b.yaml' }, region: { startLine: 9, startColumn: 17 } } },
      ],
    })
  })

  it('as JUnit has a failed, a broken and a passed case, in well-formed XML', () => {
    const xml = CHECK_REPORTS.junit(RESULT)
    expect(xml).toContain('<testsuite name="weir check" tests="3" failures="1" errors="1">')
    expect(xml).toContain('<failure type="Incompatible" message="first line, 100%">')
    expect(xml).toContain('::error::&quot;&lt;&amp;&gt; \ufffd\ufffd')
    expect(xml).toContain('<testcase name="Connector/default/fine" classname="m/d.yaml">\n    </testcase>')
  })

  it('as text shows control characters of a manifest as their codes, so that they cannot change what a terminal shows', () => {
    const [finding] = RESULT.findings
    const hostile = { ...finding!, file: 'm/a\n::error::b\u001b[2K.yaml', message: 'x\u001b[31m\r\u202e y\nz' }
    const text = CHECK_REPORTS.text({ ...RESULT, findings: [hostile] })
    expect(text.split('\n').slice(0, 2)).toEqual([
      'm/a\\u000a::error::b\\u001b[2K.yaml:9:17: error: Incompatible Subject/default/orders: x\\u001b[31m\\u000d\\u202e y',
      'z',
    ])
  })

  it('for GitHub has one command for each finding, which no message can add to', () => {
    const [finding] = RESULT.findings
    const message = 'first line, 100%\n::error::second\n  ::add-mask::x\n##[add-path]/tmp'
    const lines = CHECK_REPORTS.github({
      ...RESULT,
      findings: [{ ...finding!, file: 'm/a,\nb:.yaml', message }, RESULT.findings[1]!],
    }).split('\n')
    // As the runner does: no command is read between a token and its second occurrence.
    const [, token = ''] = /^::stop-commands::(\w{64})$/.exec(lines[0]!) ?? []
    const end = lines.indexOf(`::${token}::`)
    expect(lines.filter((line) => line.includes(token))).toHaveLength(2)
    const commands = lines.slice(end + 1).filter((line) => line !== '')
    expect(lines.slice(1, end)).toEqual(expect.arrayContaining(['::error::second', '##[add-path]/tmp']))
    expect(commands).toEqual([
      '::error file=m/a%2C%0Ab%3A.yaml,line=9,col=17,title=weir%3A Incompatible::first line, 100%25%0A::error::second%0A  ::add-mask::x%0A##[add-path]/tmp%0AHint: give it a default',
      '::warning file=m/b.yaml,line=1,col=1,title=weir%3A Undecided::no answer',
    ])
  })

  it('for GitLab identifies a finding independently of its line', () => {
    const fingerprints = (result: CheckResult) =>
      (JSON.parse(CHECK_REPORTS.gitlab(result)) as { fingerprint: string }[]).map(({ fingerprint }) => fingerprint)
    const moved = { ...RESULT, findings: RESULT.findings.map((finding) => ({ ...finding, line: finding.line + 1 })) }
    expect(fingerprints(moved)).toEqual(fingerprints(RESULT))
    expect(new Set(fingerprints({ ...RESULT, findings: [RESULT.findings[0]!, RESULT.findings[0]!] })).size).toBe(2)
    expect(JSON.parse(CHECK_REPORTS.gitlab(RESULT))[0]).toMatchObject({
      check_name: 'Incompatible',
      severity: 'major',
      location: { path: 'm/a b.yaml', lines: { begin: 9 } },
    })
  })
})
