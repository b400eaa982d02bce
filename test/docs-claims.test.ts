import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { describeConfig } from '../src/sdk/index.ts'
import { SHIPPED } from './support/shipped-plugins.ts'

const ROOT = join(import.meta.dirname, '..')
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const filesOf = (...patterns: string[]) => globSync(patterns, { cwd: ROOT }).toSorted()

/** Decision records and measurements state what was true at their time. */
const PAGES = filesOf('README.md', 'docs/**/*.md').filter((page) => !/adr\/|performance/.test(page))
const PROGRAM = filesOf(
  'src/**/*.ts',
  'java/**/*.java',
  'charts/**/*.{yaml,tpl,json}',
  'crds/*.yaml',
  'rbac/*.yaml',
  'package.json',
)
  .map(textOf)
  .join('\n')

/** A page without its blocks of code, as sentences, items and rows of tables. */
function statementsOf(page: string): readonly string[] {
  const text = textOf(page).replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
  return text
    .replaceAll(/\n(?![\n|#-]| *[-*] )/g, ' ')
    .split(/(?<=[.:])\s|\n/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

function codesIn(statement: string): readonly string[] {
  return [...statement.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)
}

describe('what pages say that Weir does not have', () => {
  const section = /^## Features that Weir does not have\n([\s\S]*?)^## /m.exec(textOf('docs/comparison.md'))![1]!
  const dependencies = Object.keys(JSON.parse(textOf('package.json')).dependencies)
  const connectors = SHIPPED.filter(({ kind }) => kind === 'source' || kind === 'sink').flatMap((plugin) => [
    plugin.class,
    ...(plugin.aliases ?? []),
  ])

  /** For each feature, what would be there if Weir had it. */
  const IF_IT_EXISTED: Readonly<Record<string, () => boolean>> = {
    'Running Kafka.': () => /kind: (?:Kafka|KafkaTopic|KafkaUser)\n/.test(PROGRAM),
    'Native replication between clusters.': () => connectors.some((name) => /mirror|replicat/i.test(name)),
    'Every connector without a JVM.': () => !existsSync(join(ROOT, 'java/host')),
    'Schema Linking.': () => /'\/exporters/.test(PROGRAM),
    'Commercial support, a long history and a large community.': () =>
      filesOf('crds/*.yaml').some((file) =>
        parse(textOf(file)).spec.versions.some(({ name }: { name: string }) => !/(?:alpha|beta)/.test(name)),
      ),
    'Building images with plugins.': () =>
      /\bkaniko\b/.test(PROGRAM) || dependencies.some((name) => /docker|buildkit/.test(name)),
  }

  it('is listed with the feature that would show it', () => {
    const features = [...section.matchAll(/^- \*\*(.+?)\*\*/gm)].map(([, feature]) => feature)
    expect(features.toSorted()).toEqual(Object.keys(IF_IT_EXISTED).toSorted())
  })

  it.each(Object.entries(IF_IT_EXISTED))('does not exist: %s', (_, exists) => {
    expect(exists()).toBe(false)
  })

  it('is said of Weir as a whole in that list only', () => {
    const absent = /\bWeir (?:has no|has none|does not (?:have|support|run|offer)|cannot|lacks|is not able)\b/
    const elsewhere = PAGES.flatMap((page) =>
      statementsOf(page)
        .filter((statement) => absent.test(statement) && !section.replaceAll('\n  ', ' ').includes(statement))
        .filter((statement) => !statement.startsWith('## Features'))
        .map((statement) => `${page}: ${statement}`),
    )
    expect(elsewhere).toEqual([])
  })
})

describe('keys without effect', () => {
  const withoutEffect = /\b(?:no effect|without effect|not supported)\b/

  it.each(SHIPPED.filter(({ notes }) => notes !== undefined).map((plugin) => [plugin.class, plugin] as const))(
    'are not defined with an effect: %s',
    (_, plugin) => {
      const sentences = plugin.notes!.replaceAll('\n', ' ').split(/(?<=[.:;,])\s/)
      const named = new Set(sentences.filter((sentence) => withoutEffect.test(sentence)).flatMap(codesIn))
      const wrong = describeConfig(plugin.config).filter(
        ({ name, documentation }) => named.has(name) && !withoutEffect.test(documentation),
      )
      expect(wrong.map(({ name }) => name)).toEqual([])
    },
  )

  it('of Debezium are not read by PostgresCdcSource', () => {
    const table = /^[^\n]*These keys have no effect:\n\n([\s\S]*?)\n\n/m.exec(
      textOf('docs/postgres-cdc-differences.md'),
    )![1]!
    const keys = table.split('\n').flatMap((row) => codesIn(row.split('|')[1]!))
    expect(keys.length).toBeGreaterThan(15)
    const cdc = SHIPPED.find((plugin) => plugin.class === 'PostgresCdcSource')!
    const read = describeConfig(cdc.config).filter(({ documentation }) => !withoutEffect.test(documentation))
    expect(read.map(({ name }) => name).filter((name) => keys.includes(name))).toEqual([])
  })
})

describe('names on pages', () => {
  /** Names of examples, of other programs, and of keys that pages list because Weir ignores them. */
  const OTHERS = new Set([
    ...[
      'orders-source.yaml',
      'shop.Customer.email',
      'shop.public.orders',
      'weir-registry.weir.svc',
      'offsets.retention.minutes',
    ],
    ...[
      'NAME.jar',
      'release.json',
      'NAME.zip',
      'spec.groupId',
      'preserve.source.fields',
      'broker.db-wal',
      'broker.db-shm',
    ],
  ])
  /** Keys of connectors of others, and file names, which test/docs.test.ts checks with their paths. */
  const isOfOthers = (name: string) =>
    OTHERS.has(name) || /^(?:iceberg|camel|Array|Atomics|process)\.|\.tsx?$/.test(name)
  const values = pathsOf(parse(textOf('charts/weir/values.yaml')))
  const fields = filesOf('crds/*.yaml').flatMap((file) =>
    fieldsOf(parse(textOf(file)).spec.versions[0].schema.openAPIV3Schema),
  )
  const known = new Set([
    ...SHIPPED.flatMap((plugin) => [plugin.class, ...(plugin.aliases ?? [])]),
    ...SHIPPED.flatMap((plugin) => describeConfig(plugin.config).map(({ name }) => name)),
    ...values,
    ...fields,
    // The settings of Kafka's clients, with which the declaration is compared.
    ...Object.values(JSON.parse(textOf('test/broker/kafka-client-settings.json')) as Record<string, string[]>).flat(),
  ])

  /** Pages about keys and classes of other programs, which have tests of their own. */
  const ABOUT_OTHERS = ['docs/postgres-cdc-differences.md', 'docs/public-configurations.md']

  it.each(PAGES.filter((page) => !ABOUT_OTHERS.includes(page)))(
    'exist in the program: %s',
    { tags: ['slow'] },
    (page) => {
      const names = statementsOf(page)
        .flatMap(codesIn)
        .filter((code) => /^[a-zA-Z][\w$-]*(?:\.[\w$-]+)+$/.test(code))
      const wrong = names.filter((name) => !known.has(name) && !isOfOthers(name) && !isInProgram(name))
      expect([...new Set(wrong)]).toEqual([])
    },
  )
})

describe('messages on pages', () => {
  /** The console repeats messages of the other modules, to say what to do about them. */
  const messages = flat(
    filesOf('src/**/*.ts')
      .filter((file) => !file.endsWith('page/attention.ts'))
      .map(textOf)
      .join('\n'),
  )
  /** A message of PostgreSQL, and one that the program composes. */
  const OTHERS = ['is active for', 'ended its process by']

  it.each(PAGES)('are messages of the program: %s', (page) => {
    const parts = statementsOf(page)
      .flatMap(codesIn)
      .filter(
        (code) =>
          /^[a-z](?:[\w' …]|-(?!-))+$/i.test(code) &&
          !/^(?:weir|npm|npx|kubectl|helm|docker|git|terraform|flux|kcctl|rpk) /.test(code),
      )
      // What differs from message to message is omitted, or in capital letters.
      .flatMap((code) => code.split(/ ?(?:…|\b[A-Z]{2,}\b) ?/))
      .filter((part) => part.trim().includes(' '))
    const wrong = parts.filter((part) => !messages.includes(flat(part)) && !OTHERS.includes(part))
    expect(wrong).toEqual([])
  })

  /** Joins texts that are divided into lines. */
  function flat(text: string): string {
    return text.replaceAll(/'\s*\+\s*'|`\s*\+\s*`/g, '').replaceAll(/\s+/g, ' ')
  }
})

describe('defaults on pages', () => {
  const UNITS: Readonly<Record<string, number>> = { s: 1_000, minutes: 60_000, MiB: 1_048_576 }
  const defaults = new Map(
    filesOf('docs/config/*.md').flatMap((file) =>
      [...textOf(file).matchAll(/^\| `([^`]+)` \| [^|]* \| `([^`]+)` \|/gm)].map(([, key, value]) => [key!, value!]),
    ),
  )

  it('are those of the settings', () => {
    const named = PAGES.filter((page) => !page.startsWith('docs/config/')).flatMap((page) =>
      statementsOf(page).flatMap((statement) =>
        [...statement.matchAll(/`([\w.]+)` \((\d[\d,]*)(?: (s|minutes|MiB)\b)?/g)]
          .filter(([, key]) => defaults.has(key!))
          .map(([text, key, number, unit = '']) => ({
            text,
            stated: Number(number!.replaceAll(',', '')) * (UNITS[unit] ?? 1),
            isDefault: Number(defaults.get(key!)),
          })),
      ),
    )
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter(({ stated, isDefault }) => stated !== isDefault)).toEqual([])
  })
})

/** Prefixed keys are in the program without their prefix, and members of an object without the object. */
function isInProgram(name: string): boolean {
  const member = name.split('.').at(-1)!
  return (
    PROGRAM.includes(name) ||
    PROGRAM.includes(name.replace(/^(?:(?:transforms|predicates)\.NAME|(?:broker|kafka)(?:store|group))\./, '')) ||
    (/^(?:context|kmsProps|offsets|operator)\./.test(name) && new RegExp(`\\b${member}\\b`).test(PROGRAM)) ||
    (/\.ssl\./.test(name) && PROGRAM.includes(name.slice(name.indexOf('ssl.')))) ||
    (/^io\.confluent\.kafka\.serializers\.subject\./.test(name) && PROGRAM.includes(`${member}`))
  )
}

function pathsOf(values: unknown, prefix = ''): readonly string[] {
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return []
  return Object.entries(values).flatMap(([name, value]) => [`${prefix}${name}`, ...pathsOf(value, `${prefix}${name}.`)])
}

type FieldSchema = { readonly properties?: Readonly<Record<string, FieldSchema>>; readonly items?: FieldSchema }

function fieldsOf({ properties = {}, items }: FieldSchema, prefix = ''): readonly string[] {
  if (items !== undefined) return fieldsOf(items, prefix)
  return Object.entries(properties).flatMap(([name, schema]) => [
    `${prefix}${name}`,
    ...fieldsOf(schema, `${prefix}${name}.`),
  ])
}
