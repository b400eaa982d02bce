import type { NewRecord } from '../../../src/broker/broker.ts'

// The topic `_schemas` of a registry that has been used for years, record by record in the format of Confluent's registry.

type Members = Readonly<Record<string, unknown>>
/** A version of a subject. `deleted`: soft-deleted; `removed`: permanently deleted. */
type Version = { readonly content: Members; readonly deleted?: boolean; readonly removed?: boolean }

export type EstateRegistry = {
  readonly records: readonly Omit<NewRecord, 'topic'>[]
  /** Subjects with a version that is not deleted. */
  readonly liveSubjects: readonly string[]
}

const CONTEXTS = ['', ':.billing:', ':.legacy:']
const LEVELS = ['NONE', 'BACKWARD', 'FORWARD_TRANSITIVE', 'FULL', 'FULL_TRANSITIVE'] as const
const MODES = ['READONLY', 'READONLY_OVERRIDE', 'IMPORT', 'READWRITE', 'FORWARD'] as const

/** A registry with this number of subjects, live and deleted. */
export function estateRegistry(subjects: number): EstateRegistry {
  const topic = new SchemasTopic()
  topic.add({ keytype: 'NOOP', magic: 0 }, null)
  // Old versions wrote the global level with a null subject.
  topic.add({ keytype: 'CONFIG', subject: null, magic: 0 }, { compatibilityLevel: 'FORWARD' })
  for (const context of ['.billing', '.legacy']) {
    topic.add({ keytype: 'CONTEXT', tenant: 'default', context, magic: 0 }, { tenant: 'default', context })
  }
  topic.setting('CONFIG', ':.billing:', { compatibilityLevel: 'BACKWARD_TRANSITIVE' })
  topic.setting('MODE', ':.legacy:', { mode: 'READONLY' })
  for (const context of CONTEXTS) {
    for (const [name, content] of Object.entries(BASES)) topic.subject(`${context}base.${name}`, [{ content }])
  }
  const live = CONTEXTS.flatMap((context) => Object.keys(BASES).map((name) => `${context}base.${name}`))
  for (let at = live.length; at < subjects; at++) {
    const name = `${CONTEXTS[at % 3]}${nameOf(at)}`
    const versions = versionsOf(at, name)
    topic.subject(name, versions)
    if (versions.some(({ deleted, removed }) => !deleted && !removed)) live.push(name)
    if (at % 7 === 0) topic.setting('CONFIG', name, { compatibilityLevel: LEVELS[at % LEVELS.length] })
    if (at % 11 === 0) topic.setting('MODE', name, { mode: MODES[at % MODES.length] })
  }
  // Settings that no manifest declares, and an alias.
  topic.setting('CONFIG', 'base.avro', { compatibilityLevel: 'FULL', normalize: true, compatibilityGroup: 'release' })
  topic.setting('CONFIG', 'orders-alias', { alias: 'base.avro' })
  // A level that was removed again.
  topic.setting('CONFIG', 'base.json', { compatibilityLevel: 'NONE' })
  topic.add({ keytype: 'CONFIG', subject: 'base.json', magic: 0 }, null)
  return { records: topic.records, liveSubjects: live }
}

const BASES: Readonly<Record<string, Members>> = {
  avro: { schema: JSON.stringify({ type: 'record', name: 'Base', namespace: 't', fields: [] }) },
  json: { schemaType: 'JSON', schema: JSON.stringify({ type: 'string', maxLength: 9 }) },
  proto: { schemaType: 'PROTOBUF', schema: 'syntax = "proto3";\npackage t;\n\nmessage Base {}\n' },
}

/** Names that Kubernetes accepts, and names with capitals, underscores, blanks and letters that it does not accept. */
function nameOf(at: number): string {
  const names = [
    `orders-${at}-value`,
    `Payments_${at}-key`,
    `shop.Order${at}`,
    `größe ${at}`,
    `com.example.Event$${at}`,
  ]
  return names[at % names.length]!
}

function versionsOf(at: number, subject: string): readonly Version[] {
  const contents = [0, 1, 2].slice(0, 1 + (at % 3)).map((version) => contentOf(at, version, subject))
  return contents.map((content, version) => {
    const isLast = version === contents.length - 1
    if (at % 13 === 0) return { content, deleted: true }
    if (at % 17 === 0) return { content, removed: true }
    if (at % 5 === 0 && !isLast) return { content, deleted: true }
    return { content }
  })
}

/** All formats in turn; two of three schemas refer to others, also to those of another context. */
function contentOf(at: number, version: number, subject: string): Members {
  const isReferring = at % 9 < 6
  const isAcross = isReferring && at % 4 === 0
  const reference = (name: string, base: string) =>
    isReferring ? { references: [{ name, subject: `${isAcross ? ':.billing:' : ''}base.${base}`, version: 1 }] } : {}
  const details = at % 10 === 3 ? detailsOf(subject) : {}
  const added = Array.from({ length: version }, (_, field) => `added${field}`)
  switch (at % 3) {
    case 0: {
      const fields = [
        { name: 'base', type: isReferring ? 't.Base' : 'long' },
        ...added.map((name) => ({ name, type: ['null', 'string'], default: null })),
        // Some schemas are long.
        ...Array.from({ length: at % 50 === 0 ? 300 : 0 }, (_, field) => ({
          name: `f${field}`,
          type: 'int',
          default: 0,
        })),
      ]
      const schema = JSON.stringify({ type: 'record', name: `R${at}`, namespace: 'shop', fields })
      return { ...reference('t.Base', 'avro'), ...details, schema }
    }
    case 1: {
      const properties = Object.fromEntries([
        ['base', isReferring ? { $ref: 'base.json' } : { type: 'integer' }],
        ...added.map((name) => [name, { type: 'string' }]),
      ])
      const schema = JSON.stringify({ type: 'object', title: `J${at}`, properties, additionalProperties: false })
      return { schemaType: 'JSON', ...reference('base.json', 'json'), ...details, schema }
    }
    default: {
      const [imported, type] = isReferring ? ['import "base.proto";\n\n', 't.Base'] : ['', 'int64']
      const fields = added.map((name, field) => `  string ${name} = ${field + 2};\n`).join('')
      const schema = `syntax = "proto3";\npackage shop;\n\n${imported}message P${at} {\n  ${type} base = 1;\n${fields}}\n`
      return { schemaType: 'PROTOBUF', ...reference('base.proto', 'proto'), ...details, schema }
    }
  }
}

function detailsOf(subject: string): Members {
  return {
    metadata: { tags: { '**.base': ['PII'] }, properties: { owner: 'shop', about: subject }, sensitive: [] },
    ruleSet: {
      migrationRules: [],
      domainRules: [
        {
          name: 'checkBase',
          doc: 'A check.',
          kind: 'CONDITION',
          mode: 'WRITE',
          type: 'CEL',
          expr: 'has(message.base)',
        },
      ],
    },
  }
}

class SchemasTopic {
  readonly records: Omit<NewRecord, 'topic'>[] = []
  readonly #ids = new Map<string, number>()

  add(key: Members, value: Members | null): void {
    const text = (members: Members) => Buffer.from(JSON.stringify(members))
    this.records.push({ key: text(key), value: value && text(value) })
  }

  setting(keytype: 'CONFIG' | 'MODE', subject: string, value: Members): void {
    this.add({ keytype, subject, magic: 0 }, { subject, ...value })
  }

  /** Deleted versions are registered first and deleted later, as by clients. */
  subject(subject: string, versions: readonly Version[]): void {
    const context = /^:[^:]*:/.exec(subject)?.[0] ?? ''
    const entries = versions.map(({ content, ...state }, at) => {
      const id = (this.#ids.get(context) ?? 0) + 1
      this.#ids.set(context, id)
      // Old registries wrote keys with magic 0.
      const key = { keytype: 'SCHEMA', subject, version: at + 1, magic: subject.includes('Payments') ? 0 : 1 }
      return { key, value: { subject, version: at + 1, id, ...content }, ...state }
    })
    for (const { key, value } of entries) this.add(key, { ...value, deleted: false })
    const isWhole = entries.every(({ deleted, removed }) => deleted || removed)
    if (isWhole) this.add({ keytype: 'DELETE_SUBJECT', subject, magic: 0 }, { subject, version: entries.length })
    for (const { key, value, deleted, removed } of entries) {
      if (removed) this.add(key, null)
      else if (deleted && !isWhole) this.add(key, { ...value, deleted: true })
    }
  }
}
