import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { convertCommand } from '../../../src/cli/commands/convert.ts'
import { API_VERSION, DEPRECATED_API_VERSIONS } from '../../../src/common/resource-api.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const CONNECTOR = { name: 'orders', config: { 'connector.class': 'FileStreamSink', topics: 'orders' } }

function fileWith(value: unknown, name = 'in.json'): string {
  const path = join(temporaryDirectory(), name)
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
  return path
}

async function convert(...args: string[]) {
  const printed = { out: '', err: '' }
  const write = (stream: 'out' | 'err') => (text: string | Uint8Array) => {
    printed[stream] += String(text)
    return true
  }
  const out = vi.spyOn(process.stdout, 'write').mockImplementation(write('out'))
  const err = vi.spyOn(process.stderr, 'write').mockImplementation(write('err'))
  try {
    return { code: await convertCommand.run(args), ...printed }
  } finally {
    out.mockRestore()
    err.mockRestore()
  }
}

describe('weir convert', () => {
  it('prints the manifests and succeeds when nothing is lost', async () => {
    const { code, out, err } = await convert(fileWith(CONNECTOR))
    expect(code).toBe(0)
    expect(out).toContain('kind: Connector\nmetadata:\n  name: orders\n')
    expect(err).toBe('converted 1 resource; 0 failures, 0 fields without a counterpart\n')
  })

  it('fails when a field is lost', async () => {
    const { code, err } = await convert(fileWith({ ...CONNECTOR, odd: 1 }))
    expect(code).toBe(1)
    expect(err).toMatch(/in\.json:1: odd: has no counterpart/)
  })

  it('lists the Secrets to create, by the definitions of the plugins too', async () => {
    const config = {
      'connector.class': 'HttpSink',
      'http.authorization.type': 'oauth2',
      'oauth2.client.secret': 'pa55word',
    }
    const { out, err } = await convert(fileWith({ name: 'web', config }))
    expect(out).toContain('name: web-secrets')
    expect(err).toContain('kubectl create secret generic web-secrets --from-file=oauth2.client.secret=FILE')
    expect(out + err).not.toContain('pa55word')
  })

  it('writes one file for each resource, and again the same', async () => {
    const folder = join(temporaryDirectory(), 'out')
    const input = fileWith([CONNECTOR, { ...CONNECTOR, name: 'other' }])
    expect((await convert(input, '--output-dir', folder)).code).toBe(0)
    expect(readdirSync(join(folder, 'connectors')).sort()).toEqual(['orders.yaml', 'other.yaml'])
    const text = readFileSync(join(folder, 'connectors/orders.yaml'), 'utf8')
    expect((await convert(input, '--output-dir', folder)).code).toBe(0)
    expect(readFileSync(join(folder, 'connectors/orders.yaml'), 'utf8')).toBe(text)
  })

  it('writes nothing when a file exists with other content, unless it may overwrite', async () => {
    const folder = temporaryDirectory()
    mkdirSync(join(folder, 'connectors'))
    const path = join(folder, 'connectors/orders.yaml')
    writeFileSync(path, 'mine')
    const input = fileWith([{ ...CONNECTOR, name: 'a' }, CONNECTOR])
    const refused = await convert(input, '--output-dir', folder)
    expect(refused.code).toBe(1)
    expect(refused.err).toContain(`${path} exists with other content`)
    expect(readdirSync(join(folder, 'connectors'))).toEqual(['orders.yaml'])
    expect((await convert(input, '--output-dir', folder, '--overwrite')).code).toBe(0)
    expect(readFileSync(path, 'utf8')).toContain('kind: Connector')
  })

  it('names the clusters that the command line gives', async () => {
    const { out } = await convert(fileWith(CONNECTOR), '--worker', 'main')
    expect(out).toContain('workerRef:\n    name: main\n')
  })

  it('reads the files of a directory, and its subdirectories, in the order of their paths', async () => {
    const folder = temporaryDirectory()
    for (const [path, name] of [
      ['b/one.json', 'one'],
      ['a.json', 'two'],
      ['.hidden.json', 'three'],
    ] as const) {
      mkdirSync(join(folder, path, '..'), { recursive: true })
      writeFileSync(join(folder, path), JSON.stringify({ ...CONNECTOR, name }))
    }
    const { out } = await convert(folder)
    expect([...out.matchAll(/^ {2}name: (\w+)$/gm)].map(([, name]) => name)).toEqual(['two', 'one'])
  })

  const [OLD] = DEPRECATED_API_VERSIONS as readonly [string]
  const subject = (apiVersion: string) => `# ours\napiVersion: ${apiVersion} # the version\nkind: Subject\n`

  it('prints manifests of Weir with the current API version and their comments', async () => {
    const old = fileWith(subject(OLD), 'old.yaml')
    const current = fileWith(subject(API_VERSION), 'current.yaml')
    const { code, out, err } = await convert(old, current)
    expect(out).toBe(`${subject(API_VERSION)}---\n${subject(API_VERSION)}`)
    expect(err).toBe('converted 1 resource; 0 failures, 0 fields without a counterpart\n')
    expect(code).toBe(0)
  })

  it('reports what else a file with manifests of Weir has, and that --output-dir does not write it', async () => {
    const mixed = fileWith(`${subject(OLD)}---\napiVersion: kafka.strimzi.io/v1\nkind: KafkaConnector\n`, 'm.yaml')
    const printed = await convert(mixed)
    expect(printed.code).toBe(1)
    expect(printed.err).toMatch(/m\.yaml:5: is not converted, because the file has manifests of Weir/)
    const written = await convert(mixed, '--output-dir', join(temporaryDirectory(), 'out'))
    expect(written.code).toBe(1)
    expect(written.err).toContain('weir convert FILE --in-place rewrites them')
  })

  it('rewrites files with manifests of Weir in place, and no others', async () => {
    const folder = temporaryDirectory()
    const files: Readonly<Record<string, string>> = {
      'chart.yaml': '{{ if .Values.x }}\nkind: Deployment\n',
      'current.yaml': subject(API_VERSION),
      'old.yaml': `${subject(OLD)}---\napiVersion: apps/v1\nkind: Deployment\n`,
      'template.yaml': `apiVersion: ${OLD}\nkind: Subject\n{{ end }}\n`,
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const { code, out, err } = await convert(folder, '--in-place')
    const text = (name: string) => readFileSync(join(folder, name), 'utf8')
    expect(Object.keys(files).filter((name) => text(name) !== files[name])).toEqual(['old.yaml'])
    expect(text('old.yaml')).toBe(files['old.yaml']!.replace(OLD, API_VERSION))
    expect(out).toBe('')
    expect(err).toContain('rewrote 1 resource in 1 file; 1 failure')
    expect(err).toMatch(/template\.yaml:\d: is not valid YAML/)
    expect(code).toBe(1)
    expect(await convert(join(folder, 'old.yaml'), '--in-place')).toMatchObject({
      code: 0,
      err: 'rewrote 0 resources in 0 files; 0 failures\n',
    })
  })

  it.each([
    [[], 'expected a file or directory'],
    [['missing.yaml'], 'does not exist'],
    [['.', '--from', 'argo'], 'expected one of strimzi, confluent, redpanda, jikkou, terraform, connect, weir'],
    [['-', '--in-place'], 'files and directories only'],
    [['.', '--in-place', '--output-dir', 'x'], 'files and directories only'],
    [['.', '--overwrite'], '--overwrite needs --output-dir'],
  ])('refuses the arguments %j', async (args, message) => {
    await expect(convert(...args)).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining(message) })
  })
})
