import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { checkCommand } from '../../../src/cli/commands/check.ts'
import { API_VERSION, DEPRECATED_API_VERSIONS } from '../../../src/common/resource-api.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const manifest = (kind: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: API_VERSION, kind, metadata: { name }, spec })
const record = (...fields: readonly object[]) => JSON.stringify({ type: 'record', name: 'Order', fields })

/** A directory with these files, relative to it. */
function directory(files: Readonly<Record<string, string>>): string {
  const root = temporaryDirectory()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

/** Runs `weir check` and returns its exit code and its findings. */
async function check(...args: readonly string[]) {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  const exitCode = await checkCommand.run([...args, '--output', 'json'])
  const { findings } = JSON.parse(String(write.mock.lastCall?.[0])) as {
    findings: readonly { rule: string; severity: string; message: string; line: number; hint?: string }[]
  }
  return { exitCode, findings }
}

describe('weir check', () => {
  it('validates connector settings by the plugins of this machine', { tags: ['slow'] }, async () => {
    const config = { topic: 't', 'batch.size': 'many' }
    const root = directory({
      'a.json': manifest('Connector', 'bad', { class: 'FileStreamSource', config }),
      'b.json': manifest('Connector', 'good', { class: 'FileStreamSource', config: { topic: 't' } }),
    })
    const { exitCode, findings } = await check(root)
    expect(exitCode).toBe(1)
    expect(findings).toEqual([
      expect.objectContaining({ rule: 'ConfigInvalid', message: expect.stringContaining('many') }),
    ])
  })

  it('accepts a deprecated API version with a warning where it is written', async () => {
    const [deprecated] = DEPRECATED_API_VERSIONS
    const root = directory({
      'a.yaml': `kind: Subject\napiVersion: ${deprecated}\nmetadata: {name: a}\nspec: {schema: '"int"'}\n`,
      'b.json': manifest('Subject', 'b', { schema: '"int"' }),
    })
    const { exitCode, findings } = await check(root)
    expect(findings).toEqual([
      expect.objectContaining({ rule: 'DeprecatedVersion', severity: 'warning', line: 2, column: 13 }),
    ])
    expect(exitCode).toBe(0)
  })

  it('is undecided about a class that is not installed, and about a ConfigMap that it does not have', async () => {
    const root = directory({
      'a.json': manifest('Connector', 'a', { class: 'com.example.Unknown' }),
      'b.json': manifest('Subject', 'b', { schemaFrom: { configMapKeyRef: { name: 'm', key: 'k' } } }),
    })
    const { exitCode, findings } = await check(root)
    expect(exitCode).toBe(3)
    expect(findings.map(({ severity, rule }) => [severity, rule])).toEqual([
      ['undecided', 'Undecided'],
      ['undecided', 'WaitingForInput'],
    ])
    expect(findings[0]?.message).toContain("run 'weir plugins install GROUP:ARTIFACT:VERSION --plugin-path DIR'")
  })

  it('says how to install a class with known coordinates, and what a key of a former version is called now', {
    tags: ['slow'],
  }, async () => {
    const root = directory({
      'a.json': manifest('Connector', 'a', { class: 'io.debezium.connector.oracle.OracleConnector' }),
      'b.json': manifest('Connector', 'b', {
        class: 'io.debezium.connector.postgresql.PostgresConnector',
        config: {
          'topic.prefix': 'shop',
          'database.hostname': 'h',
          'database.user': 'u',
          'database.password': 'p',
          'database.dbname': 'd',
          'table.whitelist': 'public.orders',
          'snapsot.mode': 'never',
        },
      }),
    })
    const { exitCode, findings } = await check(root)
    expect(exitCode).toBe(3)
    expect(findings.map(({ severity, rule, message }) => [severity, rule, message])).toEqual([
      [
        'undecided',
        'Undecided',
        expect.stringContaining(
          "'weir plugins install io.debezium:debezium-connector-oracle:3.4.0.Final --plugin-path DIR'",
        ),
      ],
      ['warning', 'UnknownKey', "'table.whitelist' has no effect: it is now 'table.include.list'"],
      ['warning', 'UnknownKey', "'snapsot.mode' is unknown and has no effect: did you mean 'snapshot.mode'?"],
    ])
  })

  it('compares schemas with a snapshot, and hints at how to mend them', async () => {
    const version = { version: 1, id: 1, schema: record({ name: 'a', type: 'int' }) }
    const snapshot = { format: 'weir-registry-1', contexts: [], subjects: [{ subject: 'order', versions: [version] }] }
    const root = directory({
      'm/a.json': manifest('Subject', 'order', { schema: record({ name: 'b', type: 'int' }) }),
      'snapshot.json': JSON.stringify(snapshot),
      'old.json': JSON.stringify({ ...snapshot, format: 'weir-registry-0' }),
    })
    const checked = await check(join(root, 'm'), '--snapshot', join(root, 'snapshot.json'))
    expect(checked).toMatchObject({
      exitCode: 1,
      findings: [{ rule: 'Incompatible', hint: 'give the new field a default value' }],
    })
    const old = check(join(root, 'm'), '--snapshot', join(root, 'old.json'))
    await expect(old).rejects.toMatchObject({ code: 'unreadable_dump' })
  })

  it('is undecided where a runtime does not respond', async () => {
    const root = directory({ 'a.json': manifest('Subject', 'order', { schema: '"int"' }) })
    const { exitCode, findings } = await check(root, '--registry', 'http://127.0.0.1:1')
    expect(exitCode).toBe(3)
    expect(findings).toMatchObject([{ severity: 'undecided', message: expect.stringContaining('ECONNREFUSED') }])
  })

  it('applies the rules of the operator’s configuration', async () => {
    const root = directory({
      'm/a.json': manifest('Connector', 'protected-one', { class: 'FileStreamSource', config: { topic: 't' } }),
      'm/b.json': manifest('Subject', 'b', { schema: '"int"', registryRef: { name: 'other' } }),
      'operator.yaml': `apiVersion: config.weir.dev/v1alpha1
kind: OperatorConfig
workers: [{name: default, url: "http://127.0.0.1:1", allowedNamespaces: {from: All}, protectedNames: ["protected-*"]}]
`,
    })
    const config = ['--config', join(root, 'operator.yaml'), '--snapshot', 'unused.json']
    const { exitCode, findings } = await check(join(root, 'm'), ...config)
    expect(exitCode).toBe(1)
    expect(findings.map(({ rule }) => rule)).toEqual(['ProtectedName', 'UnknownCluster'])
  })

  it.each([
    [[], 'expected a directory of manifests'],
    [['missing'], 'missing is not a directory'],
    [['.', '--output', 'xml'], '--output xml: expected one of text, json'],
    [['src/sdk'], 'contains no manifests of Weir'],
    [['examples/quickstart', '--registry', 'a=http://x', '--registry', 'a=http://y'], 'the runtime a is given twice'],
    [['examples/quickstart', '--registry', 'nonsense'], 'expected http://HOST:PORT'],
  ])('rejects %j', async (args, message) => {
    await expect(checkCommand.run(args)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(message),
    })
  })
})
