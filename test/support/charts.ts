import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isMap, isScalar, type Pair, parseDocument, stringify, type YAMLMap } from 'yaml'
import { z } from 'zod'
import { crdFiles } from '../../src/operator/crd-files.ts'
import { registryConfigSchema, workerConfigSchema } from '../../src/operator/operator-configuration.ts'
import { type RbacOptions, rbacOf } from '../../src/operator/rbac.ts'
import { alertsTable, monitoringFiles } from './monitoring.ts'

/** The generated files of the charts, and those beside them. Paths are relative to `charts`. */
export function generatedFiles(): readonly { readonly path: string; readonly text: string }[] {
  return [
    // Escapes text that Helm would interpret as a template.
    ...crdFiles().map(({ name, text }) => ({
      path: `weir-crds/templates/${name}`,
      text: text.replaceAll('{{', "{{ '{{' }}"),
    })),
    { path: 'weir/files/rbac.yaml', text: rightsText() },
    { path: 'weir/values.schema.json', text: schemaText() },
    { path: 'weir/README.md', text: withTable('weir/README.md', VALUES, valuesTable()) },
    { path: '../docs/alerts.md', text: withTable('../docs/alerts.md', RUNBOOK, alertsTable()) },
    ...monitoringFiles(),
  ]
}

export const CHARTS = join(import.meta.dirname, '../../charts')

export function chartFile(path: string): string {
  return readFileSync(join(CHARTS, path), 'utf8')
}

type Granted = {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly unknown[]
}

/** The rules of `weir crds --rbac` by purpose. The chart replaces the words in capitals by its names. */
function rightsText(): string {
  const watched = ['elsewhere']
  const rulesOf = (name: string, options: Partial<RbacOptions> = {}): readonly unknown[] => {
    const all = rbacOf({
      ...{
        namespace: 'NAMESPACE',
        instance: 'INSTANCE',
        watched,
        webhook: false,
        console: false,
        offsetsExport: false,
        secrets: false,
        namespaceLabels: false,
      },
      ...options,
    }) as readonly Granted[]
    return all.find(({ rules, metadata }) => rules !== undefined && metadata.name === name)!.rules!
  }
  const leading = rulesOf('weir-operator-own')
  const watching = rulesOf('weir-operator')
  const isNew = (rule: unknown) => !watching.some((known) => isDeepStrictEqual(known, rule))
  const rights = {
    leading,
    certifying: rulesOf('weir-operator-own', { webhook: true }).slice(leading.length),
    registering: rulesOf('weir-operator-NAMESPACE', { webhook: true }),
    identifying: rulesOf('weir-operator-NAMESPACE', { console: true }),
    watching,
    exporting: rulesOf('weir-operator', { offsetsExport: true }).filter(isNew),
    readingSecrets: rulesOf('weir-operator', { secrets: true }).filter(isNew),
    seeing: rulesOf('weir-operator-NAMESPACE', { watched: [], namespaceLabels: true }).filter(isNew),
    people: Object.fromEntries(['view', 'edit', 'admin'].map((role) => [role, rulesOf(`weir-${role}`)])),
  }
  return `# Generated from src/operator/rbac.ts by test/charts/generated.test.ts.\n${stringify(rights, {
    ...{ lineWidth: 0, aliasDuplicateObjects: false },
  })}`
}

/** The values schema, with the operator's own schema for the entries of workers and registries. */
function schemaText(): string {
  const schema = JSON.parse(chartFile('weir/values.schema.json'))
  const { $schema, $defs, ...rest } = schema
  const entries = Object.fromEntries(
    Object.entries({ worker: workerConfigSchema, registry: registryConfigSchema }).map(([name, entry]) => {
      const { $schema: _, ...own } = z.toJSONSchema(entry, { target: 'draft-7', io: 'input', unrepresentable: 'any' })
      // JSON Schema has only the format `uri` for a URL, without a scheme.
      return [name, { ...own, properties: { ...own.properties, url: { type: 'string', pattern: '^https?://' } } }]
    }),
  )
  // Helm's regular expressions have no lookaround. The operator rejects what Helm then accepts.
  const readable = (key: string, value: unknown) =>
    key === 'pattern' && /\(\?[=!<]/.test(String(value)) ? undefined : value
  return `${JSON.stringify({ $schema, ...rest, $defs: { ...$defs, ...entries } }, readable, 2)}\n`
}

/** A node of `values.schema.json`. */
export type Schema = {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
  readonly $defs?: Readonly<Record<string, Schema>>
}

/** One value of the chart `weir`. `path` has the syntax of `--set`. */
export type ChartValue = {
  readonly path: string
  readonly takes: string
  readonly preset: string
  readonly about: string
}

/** All values in the order of `values.yaml`; `about` is the comment above each. */
export function chartValues(): readonly ChartValue[] {
  const schema: Schema = JSON.parse(chartFile('weir/values.schema.json'))
  return valuesIn(parseDocument(chartFile('weir/values.yaml')).contents as YAMLMap, schema, schema, '')
}

function valuesIn(map: YAMLMap, schema: Schema, whole: Schema, prefix: string): readonly ChartValue[] {
  return (map.items as readonly Pair[]).flatMap(({ key, value }, at) => {
    if (!isScalar(key)) return []
    const path = `${prefix}${key.value}`
    const named = schema.properties?.[String(key.value)] ?? {}
    const own = resolved(named, whole)
    if (isMap(value) && value.items.length > 0 && own.properties !== undefined) {
      return valuesIn(value, own, whole, `${path}.`)
    }
    // A comment above the first key belongs to the map.
    const about = key.commentBefore ?? (at === 0 ? map.commentBefore : undefined) ?? ''
    const preset = JSON.stringify((value as { toJSON(): unknown }).toJSON())
    return [{ path, takes: takenBy(named, whole), preset, about: about.trim().replaceAll(/\n\s*/g, ' ') }]
  })
}

function resolved(schema: Schema, whole: Schema): Schema {
  const [, name = ''] = /^#\/\$defs\/(.+)$/.exec(schema.$ref ?? '') ?? []
  return whole.$defs?.[name] ?? schema
}

function takenBy(schema: Schema, whole: Schema): string {
  const [, type] = /kubernetes\.(\w+)$/.exec(schema.$ref ?? '') ?? []
  if (type !== undefined) return type
  const own = resolved(schema, whole)
  if (own.enum !== undefined) return own.enum.filter((word) => word !== '').join(', ')
  if (own.type === 'array') return `list of ${own.items === undefined ? 'anything' : takenBy(own.items, whole)}`
  return own.type === 'object' ? 'map' : (own.type ?? 'anything')
}

function valuesTable(): string {
  const cell = (text: string) => text.replaceAll('|', '\\|')
  const rows = chartValues().map(
    ({ path, takes, preset, about }) => `| \`${path}\` | ${cell(takes)} | \`${cell(preset)}\` | ${cell(about)} |`,
  )
  return ['| Value | Takes | Default | Meaning |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

const VALUES = ['<!-- values: generated from values.yaml and values.schema.json -->', '<!-- /values -->'] as const
const RUNBOOK = ['<!-- alerts: generated from the declarations in src -->', '<!-- /alerts -->'] as const

/** The page with a new table between two comments. */
function withTable(path: string, [begin, end]: readonly [string, string], table: string): string {
  const page = chartFile(path)
  const [head, tail] = [page.split(begin)[0]!, page.split(end)[1]!]
  return `${head}${begin}\n${table}\n${end}${tail}`
}
