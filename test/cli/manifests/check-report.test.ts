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

  it('for GitHub has one command for each finding, which no message can add to', () => {
    const lines = CHECK_REPORTS.github(RESULT).split('\n')
    const commands = lines.filter((line) => line.startsWith('::'))
    expect(commands).toHaveLength(2)
    expect(commands[0]).toMatch(
      /^::error file=m\/a b\.yaml,line=9,col=17,title=weir%3A Incompatible::first line, 100%25%0A::error::/,
    )
    expect(commands[1]).toMatch(/^::warning file=m\/b\.yaml/)
    expect(lines.filter((line) => line.includes('::error::"'))).toEqual([expect.stringMatching(/^ /), commands[0]])
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
