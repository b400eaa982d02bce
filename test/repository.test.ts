import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { SUPPORTED_VERSIONS } from './env/supported-versions.ts'

const ROOT = join(import.meta.dirname, '..')
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const filesOf = (...patterns: string[]) => globSync(patterns, { cwd: ROOT }).toSorted()

type Step = { readonly run?: string; readonly uses?: string; readonly with?: Readonly<Record<string, unknown>> }
type Permissions = Readonly<Record<string, 'read' | 'write'>>
type Job = {
  readonly steps?: readonly Step[]
  readonly uses?: string
  readonly permissions?: Permissions
  readonly 'timeout-minutes'?: number
  readonly container?: { readonly image: string }
}
type Workflow = { readonly on: object; readonly permissions: Permissions; readonly jobs: Readonly<Record<string, Job>> }

const workflows = filesOf('.github/workflows/*').map((file) => {
  const workflow = parse(textOf(file)) as Workflow
  const jobs = Object.entries(workflow.jobs).map(([name, job]) => ({ name: `${file} ${name}`, job }))
  return { file, workflow, jobs }
})
const jobs = workflows.flatMap((workflow) => workflow.jobs)
const steps = jobs.flatMap(({ name, job }) => (job.steps ?? []).map((step) => ({ name, step })))

/** What jobs may do besides reading the contents. */
const WRITE_PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
  '.github/workflows/dependencies.yml update': ['contents', 'pull-requests'],
  '.github/workflows/release.yml build': ['attestations', 'id-token'],
  '.github/workflows/release.yml publish': ['contents', 'id-token', 'packages'],
}

describe('workflows', () => {
  it('are those for checks, tests, releases and dependencies', () => {
    expect(workflows.map(({ file }) => file.split('/').at(-1))).toEqual([
      'check.yml',
      'dependencies.yml',
      'release.yml',
      'test.yml',
    ])
  })

  it('run only scripts of this repository, which also run elsewhere', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
    const runs = steps.flatMap(({ step: { run } }) => (run === undefined ? [] : [run]))
    expect(runs.length).toBeGreaterThan(5)
    const wrong = runs.filter((command) => {
      const [, script, file] =
        /^(?:npm run (?:-s )?([\w:-]+)|(?:node )?((?:scripts|\.ci)\/\S+))(?: [^;&|`\n]*)?$/.exec(command) ?? []
      return script === undefined ? !isProgram(command, file) : scripts[script] === undefined
    })
    expect(wrong).toEqual([])
  })

  it('use actions by the hash of a commit, with its version in a comment', () => {
    const uses = workflows.flatMap(({ file }) =>
      [...textOf(file).matchAll(/^ +(?:- )?uses: (.+)$/gm)].map(([, action]) => action!),
    )
    expect(uses.length).toBeGreaterThan(5)
    const wrong = uses.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))
    expect(wrong).toEqual(['./.github/workflows/test.yml'])
    // One action has one version everywhere.
    const [actions, names] = [uses, uses.map((action) => action.split('@')[0])].map((all) => new Set(all).size)
    expect(actions).toBe(names)
  })

  it('may only read the contents, except where a job needs more', () => {
    for (const { file, workflow } of workflows)
      expect([file, workflow.permissions]).toEqual([file, { contents: 'read' }])
    const writing = jobs.flatMap(({ name, job }) => {
      const allowed = Object.entries(job.permissions ?? {}).filter(([, permission]) => permission === 'write')
      return allowed.length === 0 ? [] : [[name, allowed.map(([scope]) => scope).toSorted()]]
    })
    expect(Object.fromEntries(writing)).toEqual(WRITE_PERMISSIONS)
  })

  it('never run the code of a pull request with permissions, and put no value of an event into a command', () => {
    const triggers = workflows.flatMap(({ workflow }) => Object.keys(workflow.on))
    expect(triggers).not.toContain('pull_request_target')
    expect(triggers).not.toContain('workflow_run')
    expect(steps.filter(({ step }) => step.run?.includes('${{'))).toEqual([])
    const keeping = steps.filter(
      ({ step }) => step.uses?.startsWith('actions/checkout@') && step.with?.['persist-credentials'] !== false,
    )
    // The only one that pushes.
    expect(keeping.map(({ name }) => name)).toEqual(['.github/workflows/dependencies.yml update'])
  })

  it('limit the time of each job, and use the tested version of Node.js', () => {
    expect(jobs.filter(({ job }) => job.uses === undefined && job['timeout-minutes'] === undefined)).toEqual([])
    const [version] = SUPPORTED_VERSIONS.node.tested
    const images = jobs.flatMap(({ job: { container } }) => container?.image ?? [])
    expect([...new Set(images)]).toEqual([`node:${version}-bookworm`])
    const installed = steps.flatMap(({ step }) => step.with?.['node-version'] ?? [])
    expect([...new Set(installed)]).toEqual([Number(version.split('.')[0])])
  })

  function isProgram(command: string, file: string | undefined): boolean {
    if (file === undefined || !existsSync(join(ROOT, file))) return false
    return command.startsWith('node ') || (statSync(join(ROOT, file)).mode & 0o111) !== 0
  }
})

describe('the pages of the repository', () => {
  it('mark each address of nobody as a placeholder', () => {
    const pages = ['SECURITY.md', 'CODE_OF_CONDUCT.md', ...filesOf('.github/{CODEOWNERS,ISSUE_TEMPLATE/*}')]
    const addressed = pages.filter((page) => /\.example\b|@weir-placeholder\b/.test(textOf(page)))
    expect(addressed).toEqual(expect.arrayContaining(['SECURITY.md', 'CODE_OF_CONDUCT.md', '.github/CODEOWNERS']))
    expect(addressed.filter((page) => !/\bplaceholder\b(?!\/)/.test(textOf(page)))).toEqual([])
  })

  it('link to the threat model, whose guarantees have tests', () => {
    expect(textOf('SECURITY.md')).toContain('(docs/secure.md#threat-model)')
  })

  it('name the Contributor Covenant by its version', () => {
    expect(textOf('CODE_OF_CONDUCT.md')).toMatch(/\[Contributor Covenant, version 2\.1\]\(https:\S+\/version\/2\/1\//)
  })

  it('state the governance in ten lines', () => {
    const [title, ...rules] = textOf('GOVERNANCE.md')
      .split('\n')
      .filter((line) => line !== '')
    expect(title).toBe('# Governance')
    expect(rules.map((rule) => Number.parseInt(rule, 10))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('are owned by somebody', () => {
    const rules = textOf('.github/CODEOWNERS')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.split(/\s+/))
    expect(rules[0]![0]).toBe('*')
    expect(rules.filter(([, ...owners]) => !owners.some((owner) => /^@[\w-]+\/[\w-]+$/.test(owner)))).toEqual([])
    const paths = rules.slice(1).map(([path]) => path!.slice(1))
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })
})

describe('issue forms', () => {
  type Form = {
    readonly name: string
    readonly description: string
    readonly body: readonly {
      readonly type: string
      readonly id?: string
      readonly attributes: { readonly label?: string; readonly value?: string; readonly options?: readonly string[] }
    }[]
  }

  it.each(filesOf('.github/ISSUE_TEMPLATE/*.yml').filter((file) => !file.endsWith('config.yml')))(
    'have what GitHub requires: %s',
    (file) => {
      const { name, description, body } = parse(textOf(file)) as Form
      expect([typeof name, typeof description]).toEqual(['string', 'string'])
      const inputs = body.filter(({ type }) => type !== 'markdown')
      expect(inputs.every(({ id, attributes }) => id !== undefined && attributes.label !== undefined)).toBe(true)
      expect(new Set(inputs.map(({ id }) => id)).size).toBe(inputs.length)
      for (const { type, attributes } of body) {
        expect(['markdown', 'input', 'dropdown', 'textarea']).toContain(type)
        if (type === 'markdown') expect(attributes.value).toEqual(expect.any(String))
        if (type === 'dropdown') expect(attributes.options?.length).toBeGreaterThan(1)
      }
    },
  )

  it('and the pull request template name scripts and files that exist', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
    const text = ['.github/pull_request_template.md', ...filesOf('.github/ISSUE_TEMPLATE/*')].map(textOf).join('\n')
    const named = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script!)
    expect(named.filter((script) => scripts[script] === undefined)).toEqual([])
    const files = [...text.matchAll(/\b(?:docs\/[\w./-]*\w|[A-Z]+\.md)\b/g)].map(([file]) => file)
    expect(files.length).toBeGreaterThan(3)
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
  })
})
