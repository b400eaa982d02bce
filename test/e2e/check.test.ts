import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import AjvDraft4 from 'ajv-draft-04'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { type Output, run } from '../env/process.ts'
import { describeOn, real } from '../env/real.ts'
import { partDirectory } from '../env/workspace.ts'
import { runWeir, weirCommand } from '../support/cli.ts'
import { findingMarkersOf } from '../support/finding-markers.ts'

const schemas = await real('reportSchemas')
const preCommit = await real('preCommit')

type SarifResult = {
  readonly ruleId: string
  readonly locations: readonly [
    {
      readonly physicalLocation: {
        readonly artifactLocation: { readonly uri: string }
        readonly region: { readonly startLine: number; readonly startColumn: number }
      }
    },
  ]
}
type GitlabIssue = {
  readonly check_name: string
  readonly severity: string
  readonly location: { readonly path: string; readonly lines: { readonly begin: number } }
}

const GOOD = `apiVersion: ${API_VERSION}
kind: Connector
metadata: {name: lines}
spec:
  class: FileStreamSource
  config: {topic: lines}
`
const BAD = `apiVersion: ${API_VERSION}
kind: Connector
metadata: {name: "lines"}
spec:
  class: FileStreamSource
  config:
    topic: größe # <&> ]]> ::error::x
    batch.size: many
#               ^ ConfigInvalid
---
apiVersion: ${API_VERSION}
kind: Subject
metadata: {name: order}
spec:
  schema: 1
#         ^ InvalidManifest
`
const MARKERS = findingMarkersOf({ 'manifests/a b.yaml': BAD })
const EXAMPLES = join(import.meta.dirname, '../../examples/ci')

/** A git repository whose branch `main` has a good manifest, with a bad one in the working tree, and `weir` and `npx` on PATH. */
function repository(name: string) {
  const directory = join(partDirectory(name), 'repository')
  const bin = join(directory, '../bin')
  mkdirSync(join(directory, 'manifests'), { recursive: true })
  mkdirSync(bin, { recursive: true })
  const { file, args } = weirCommand(directory, [])
  const quoted = [file, ...args].map((word) => `'${word}'`).join(' ')
  const programs = {
    weir: `exec ${quoted} "$@"`,
    // As npx does with a package that is installed; the job installs nothing here.
    npx: `[ "$1 $2" = '--no-install weir' ] || exit 9\nshift 2\nexec weir "$@"`,
    npm: '[ "$*" = ci ] || exit 9',
  }
  for (const [program, text] of Object.entries(programs)) {
    writeFileSync(join(bin, program), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  }
  const identity = { GIT_AUTHOR_NAME: 't', GIT_AUTHOR_EMAIL: 't@example.com', GIT_CONFIG_GLOBAL: '/dev/null' }
  const committer = { GIT_COMMITTER_NAME: 't', GIT_COMMITTER_EMAIL: 't@example.com' }
  const env = { ...identity, ...committer, PATH: `${bin}${delimiter}${process.env['PATH']}` }
  const git = (...words: readonly string[]): Promise<Output> => run({ file: 'git', args: words, directory, env })
  const write = (text: string) => writeFileSync(join(directory, 'manifests/a b.yaml'), text)
  const shell = (script: string, variables: Readonly<Record<string, string>> = {}) =>
    run({ file: 'sh', args: ['-e', '-c', script], directory, env: { ...env, ...variables } })
  execFileSync('git', ['init', '--quiet', '--initial-branch', 'main', directory])
  return { directory, git, write, shell }
}

async function repositoryWithCommit(name: string) {
  const found = repository(name)
  found.write(GOOD)
  await found.git('add', '--all')
  expect(await found.git('commit', '--quiet', '--message', 'good')).toMatchObject({ code: 0 })
  return found
}

describeOn([schemas], 'weir check reports the lines of wrong fields', () => {
  let root: string
  const report = async (format: string) => {
    const { code, stdout } = await runWeir(root, 'check', 'manifests', '--output', format)
    expect(code).toBe(1)
    return stdout
  }
  const positions = MARKERS.map(({ file, line, rule }) => [file, line, rule])

  beforeAll(() => {
    root = partDirectory('check-reports')
    mkdirSync(join(root, 'manifests'))
    writeFileSync(join(root, 'manifests/a b.yaml'), BAD)
  })

  it('in SARIF that is valid by its published schema', async () => {
    const log = JSON.parse(await report('sarif'))
    const ajv = new AjvDraft4.default({ strict: false, validateFormats: false, unicodeRegExp: false })
    const validate = ajv.compile(JSON.parse(readFileSync(schemas.address.sarif, 'utf8')))
    expect([validate(log), validate.errors]).toEqual([true, null])
    expect(validate({ ...log, runs: [{ ...log.runs[0], results: [{ level: 'fatal' }] }] })).toBe(false)
    const found = (log.runs[0].results as readonly SarifResult[]).map((result) => {
      const { artifactLocation, region } = result.locations[0].physicalLocation
      return [decodeURIComponent(artifactLocation.uri), region.startLine, region.startColumn, result.ruleId]
    })
    expect(found).toEqual(MARKERS.map(({ file, line, column, rule }) => [file, line, column, rule]))
  })

  it('in JUnit that is valid by the schema of Jenkins', async () => {
    const xml = await report('junit')
    const { validateXML } = await import(pathToFileURL(schemas.address.xmllint).href)
    const validate = (contents: string) =>
      validateXML({
        xml: [{ fileName: 'report.xml', contents }],
        schema: [{ fileName: 'junit.xsd', contents: readFileSync(schemas.address.junit, 'utf8') }],
      })
    expect(await validate(xml)).toMatchObject({ valid: true, errors: [] })
    expect(await validate(xml.replace('<testcase name=', '<testcase title='))).toMatchObject({ valid: false })
    const found = [...xml.matchAll(/type="(\w+)"[^>]*>([^:]+):(\d+):/g)]
    expect(found.map(([, rule, file, line]) => [file, Number(line), rule])).toEqual(positions)
  })

  it('in the code quality report of GitLab, with the members that GitLab requires', async () => {
    const issues = JSON.parse(await report('gitlab')) as readonly GitlabIssue[]
    const required = ['check_name', 'description', 'fingerprint', 'location', 'severity']
    expect(issues.map((issue) => Object.keys(issue).sort())).toEqual(issues.map(() => required))
    for (const { severity } of issues) expect(['info', 'minor', 'major', 'critical', 'blocker']).toContain(severity)
    expect(issues.map(({ location, check_name }) => [location.path, location.lines.begin, check_name])).toEqual(
      positions,
    )
  })

  it('as annotations of GitHub', async () => {
    const found = [
      ...(await report('github')).matchAll(/^::error file=([^,]+),line=(\d+),col=(\d+),title=weir%3A (\w+)::/gm),
    ]
    expect(found.map(([, file, line, column, rule]) => [file, Number(line), Number(column), rule])).toEqual(
      MARKERS.map(({ file, line, column, rule }) => [file, line, column, rule]),
    )
  })

  it('as text for people', async () => {
    const found = [...(await report('text')).matchAll(/^(.+?):(\d+):\d+: error: (\w+)/gm)]
    expect(found.map(([, file, line, rule]) => [file, Number(line), rule])).toEqual(positions)
  })
})

describe('the examples for CI', () => {
  it('as a workflow of GitHub mark a bad manifest of a branch, and pass a good one', async () => {
    const { jobs } = parse(readFileSync(join(EXAMPLES, 'github-workflow.yaml'), 'utf8'))
    const steps = jobs.check.steps.filter((step: object) => 'run' in step) as { run: string; env?: object }[]
    expect(steps.at(-1)?.env).toEqual({ BASE: '${{ github.base_ref }}' })
    const { shell, git, write, directory } = await repositoryWithCommit('github-workflow')
    await git('remote', 'add', 'origin', directory)
    await git('fetch', '--quiet', 'origin')
    const job = () => shell(steps.map((step) => step.run).join('\n'), { BASE: 'main' })
    expect(await job()).toMatchObject({ code: 0 })
    write(BAD)
    const { code, stdout } = await job()
    expect([code, stdout.match(/^::error file=manifests\/a b\.yaml,line=8,/gm)]).toEqual([1, [expect.anything()]])
  })

  it('as a job of GitLab write the report, and fail for a bad manifest', async () => {
    const job = parse(readFileSync(join(EXAMPLES, 'gitlab-ci.yaml'), 'utf8'))['check manifests']
    const { shell, git, write, directory } = await repositoryWithCommit('gitlab-job')
    const CI_MERGE_REQUEST_DIFF_BASE_SHA = (await git('rev-parse', 'HEAD')).stdout.trim()
    write(BAD)
    expect(await shell(job.script.join('\n'), { CI_MERGE_REQUEST_DIFF_BASE_SHA })).toMatchObject({ code: 1 })
    const issues = JSON.parse(readFileSync(join(directory, job.artifacts.reports.codequality), 'utf8'))
    expect(issues).toHaveLength(MARKERS.length)
    write(GOOD)
    expect(await shell(job.script.join('\n'), { CI_MERGE_REQUEST_DIFF_BASE_SHA })).toMatchObject({ code: 0 })
  })

  it('as a hook refuse commits with a bad manifest, the first one too, also in a linked worktree', async () => {
    const { git, write, directory } = repository('pre-commit-script')
    const hook = join(directory, '.git/hooks/pre-commit')
    copyFileSync(join(EXAMPLES, 'pre-commit'), hook)
    chmodSync(hook, 0o755)
    const commit = async (text: string) => {
      write(text)
      await git('add', '--all')
      return git('commit', '--message', 'change')
    }
    expect(await commit(BAD)).toMatchObject({ code: 1 })
    expect(await commit(GOOD)).toMatchObject({ code: 0 })
    const undecided = await commit(GOOD.replace('FileStreamSource', 'com.example.Unknown'))
    expect([undecided.code, undecided.stderr]).toEqual([0, expect.stringContaining('the commit is allowed')])
    await git('worktree', 'add', '--quiet', '../worktree')
    const worktree = join(directory, '../worktree')
    writeFileSync(join(worktree, 'manifests/a b.yaml'), BAD)
    const refused = await git('-C', worktree, 'commit', '--all', '--message', 'bad')
    expect([refused.code, refused.stdout + refused.stderr]).toEqual([1, expect.stringContaining('ConfigInvalid')])
  })
})

describeOn([preCommit], 'the example for the tool pre-commit', () => {
  it('refuses a commit with a bad manifest, and allows a good one', async () => {
    const { shell, write, directory } = await repositoryWithCommit('pre-commit-tool')
    copyFileSync(join(EXAMPLES, 'pre-commit-config.yaml'), join(directory, '.pre-commit-config.yaml'))
    const variables = { PYTHONPATH: preCommit.address.packages, PRE_COMMIT_HOME: join(directory, '../home') }
    const hooks = () => shell('git add --all; python3 -m pre_commit run --color never', variables)
    write(`${GOOD}# a change\n`)
    expect(await hooks()).toMatchObject({ code: 0, stdout: expect.stringMatching(/weir check\.+Passed/) })
    write(BAD)
    const refused = await hooks()
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('manifests/a b.yaml:8:17: error')])
  })
})
