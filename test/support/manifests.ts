import { API_VERSION } from '../../src/common/resource-api.ts'
/** Manifests that Weir's parser and a real API server must both accept or both reject. */
export type Manifest = {
  readonly apiVersion: string
  readonly kind: 'Connector' | 'Subject' | 'RegistryMode'
  readonly metadata: { readonly name: string }
  readonly spec: object
}

function manifest(kind: Manifest['kind'], spec: object, name = 'x'): Manifest {
  return { apiVersion: API_VERSION, kind, metadata: { name }, spec }
}

const connector = (spec: object) => manifest('Connector', { class: 'Datagen', ...spec })
const subject = (spec: object) => manifest('Subject', spec)
const mode = (spec: object) => manifest('RegistryMode', { mode: 'READONLY', ...spec })
const SCHEMA = '"string"'
const secret = (key: string) => ({ key, secretKeyRef: { name: 's', key: 'k' } })
const import1 = { version: 1, id: 7, schema: SCHEMA }

export const VALID_MANIFESTS: readonly { readonly what: string; readonly resource: Manifest }[] = [
  { what: 'a connector and its defaults', resource: connector({}) },
  {
    what: 'a connector with all it may have',
    resource: connector({
      workerRef: { name: 'eu' },
      name: 'Orders.EU',
      version: '[1.0,2.0)',
      tasksMax: 10_000,
      state: 'Stopped',
      config: { topics: 'orders', 'transforms.a.type': 'Filter', empty: '' },
      configFrom: [{ configMapRef: { name: 'common' }, prefix: 'p.' }, { configMapRef: { name: 'b', optional: true } }],
      valuesFrom: [secret('password'), { key: 'host', configMapKeyRef: { name: 'm', key: 'h' }, onChange: 'Ignore' }],
      subjectRefs: [{ name: 'orders-value' }],
      autoRestart: { maxRestarts: 0, initialBackoff: '1s', maxBackoff: '1h30m' },
      offsets: {
        operation: {
          id: 'a:1',
          type: 'Alter',
          offsets: [
            { partition: { file: 'a' }, offset: { position: 1 } },
            { partition: { file: 'b' }, offset: null },
          ],
        },
        export: { configMapRef: { name: 'o' }, interval: '5m' },
      },
      adoptionPolicy: 'Never',
      driftPolicy: 'Report',
      deletionPolicy: 'DeleteWithOffsets',
      suspend: true,
    }),
  },
  { what: 'a subject and its defaults', resource: subject({ schema: SCHEMA }) },
  { what: 'a subject that only sets a level', resource: subject({ compatibility: 'FULL_TRANSITIVE' }) },
  {
    what: 'a subject with references, metadata and rules',
    resource: subject({
      subject: ':.ctx:Orders-value',
      schemaType: 'PROTOBUF',
      schemaFrom: { configMapKeyRef: { name: 'schemas', key: 'order.proto' } },
      references: [
        { name: 'a.proto', subjectRef: { name: 'a' } },
        { name: 'b.proto', subject: 'B', version: 3 },
      ],
      metadata: { properties: { owner: 'shop' } },
      ruleSet: { domainRules: [{ name: 'r', kind: 'CONDITION' }] },
      normalize: true,
    }),
  },
  { what: 'a subject of imports', resource: subject({ imports: [import1, { ...import1, version: 4, id: 9 }] }) },
  {
    what: 'a subject of an import from elsewhere, which uses others',
    resource: subject({
      imports: [
        {
          version: 1,
          id: 7,
          schemaFrom: { configMapKeyRef: { name: 'm', key: 'k' } },
          references: [{ name: 'a', subject: 's', version: 1 }],
        },
      ],
    }),
  },
  {
    what: 'a subject with references to what nobody declares, and to versions of what somebody does',
    resource: subject({ schema: SCHEMA, references: [{ name: 'a', subject: 's', version: 1 }] }),
  },
  {
    what: 'a subject that follows a version of another',
    resource: subject({ schema: SCHEMA, references: [{ name: 'a', subjectRef: { name: 'a' }, version: 2 }] }),
  },
  {
    what: 'a connector with offsets from elsewhere',
    resource: connector({
      offsets: { operation: { id: 'a', type: 'Alter', offsetsFrom: { configMapKeyRef: { name: 'm' } } } },
    }),
  },
  {
    what: 'a connector that forgets its offsets, with values from a ConfigMap',
    resource: connector({
      config: { a: '1' },
      valuesFrom: [{ key: 'host', configMapKeyRef: { name: 'm', key: 'h' } }],
      offsets: { operation: { id: 'a', type: 'Reset' } },
    }),
  },
  { what: 'a mode and its defaults', resource: mode({}) },
  { what: 'a mode and a level', resource: mode({ compatibility: 'FULL' }) },
  {
    what: 'a mode with a window',
    resource: mode({
      mode: 'IMPORT',
      force: true,
      scope: { type: 'Context', context: '.legacy' },
      window: { id: 'm-1', duration: '2h', closeWhenImported: true },
    }),
  },
  {
    what: 'a mode with an end',
    resource: mode({ window: { until: '2026-11-20T10:00:00+01:00' }, scope: { type: 'Subject', subject: 's' } }),
  },
]

export const INVALID_MANIFESTS: readonly {
  readonly what: string
  readonly resource: Manifest
  readonly message: RegExp
}[] = [
  { what: 'no class', resource: manifest('Connector', {}), message: /spec\.class/ },
  { what: 'an empty class', resource: connector({ class: '' }), message: /spec\.class/ },
  { what: 'an unknown field', resource: connector({ taskMax: 1 }), message: /spec\.taskMax/ },
  { what: 'no task', resource: connector({ tasksMax: 0 }), message: /spec\.tasksMax/ },
  { what: 'too many tasks', resource: connector({ tasksMax: 10_001 }), message: /spec\.tasksMax/ },
  { what: 'half a task', resource: connector({ tasksMax: 1.5 }), message: /spec\.tasksMax/ },
  { what: 'a state that is none', resource: connector({ state: 'Resting' }), message: /spec\.state/ },
  {
    what: 'a number in the configuration',
    resource: connector({ config: { rate: 10 } }),
    message: /spec\.config\.?.*rate/,
  },
  {
    what: 'a value that is too long',
    resource: connector({ config: { a: 'x'.repeat(65_537) } }),
    message: /spec\.config/,
  },
  {
    what: 'a key with a field of its own',
    resource: connector({ config: { 'tasks.max': '2' } }),
    message: /config must not contain name, connector\.class/,
  },
  {
    what: 'a key from two places',
    resource: connector({ config: { a: '1' }, valuesFrom: [secret('a')] }),
    message: /config and valuesFrom must not contain the same key/,
  },
  {
    what: 'a value from nowhere',
    resource: connector({ valuesFrom: [{ key: 'a' }] }),
    message: /exactly one of secretKeyRef and configMapKeyRef/,
  },
  {
    what: 'a value twice',
    resource: connector({ valuesFrom: [secret('a'), secret('a')] }),
    message: /spec\.valuesFrom\[1\]/,
  },
  { what: 'a name with a slash', resource: connector({ name: 'a/b' }), message: /spec\.name/ },
  {
    what: 'a duration that is none',
    resource: connector({ autoRestart: { maxBackoff: 'soon' } }),
    message: /spec\.autoRestart\.maxBackoff/,
  },
  {
    what: 'a reset with offsets',
    resource: connector({ offsets: { operation: { id: 'a', type: 'Reset', offsets: [] } } }),
    message: /Reset allows neither/,
  },
  {
    what: 'a subject of nothing',
    resource: subject({}),
    message: /one of schema, schemaFrom, compatibility and imports/,
  },
  {
    what: 'a schema from two places',
    resource: subject({ schema: SCHEMA, schemaFrom: { configMapKeyRef: { name: 'm', key: 'k' } } }),
    message: /schema and schemaFrom must not both be set/,
  },
  {
    what: 'a format that is none',
    resource: subject({ schema: SCHEMA, schemaType: 'XML' }),
    message: /spec\.schemaType/,
  },
  { what: 'a level that is none', resource: subject({ compatibility: 'BACKWARDS' }), message: /spec\.compatibility/ },
  { what: 'a schema that is too long', resource: subject({ schema: 'x'.repeat(524_289) }), message: /spec\.schema/ },
  {
    what: 'references of nothing',
    resource: subject({ compatibility: 'NONE', references: [{ name: 'a', subject: 's', version: 1 }] }),
    message: /references need schema or schemaFrom/,
  },
  {
    what: 'a reference to two things',
    resource: subject({
      schema: SCHEMA,
      references: [{ name: 'a', subject: 's', version: 1, subjectRef: { name: 's' } }],
    }),
    message: /exactly one of subjectRef and subject/,
  },
  {
    what: 'a reference without a version',
    resource: subject({ schema: SCHEMA, references: [{ name: 'a', subject: 's' }] }),
    message: /version is required with subject/,
  },
  {
    what: 'a subject that uses itself',
    resource: subject({ schema: SCHEMA, references: [{ name: 'a', subjectRef: { name: 'x' } }] }),
    message: /a Subject must not reference itself/,
  },
  { what: 'an import twice', resource: subject({ imports: [import1, import1] }), message: /spec\.imports\[1\]/ },
  { what: 'force without IMPORT', resource: mode({ force: true }), message: /force is allowed with mode IMPORT only/ },
  {
    what: 'a window of the usual mode',
    resource: mode({ mode: 'READWRITE', window: { duration: '1h' } }),
    message: /window is allowed with a mode other than READWRITE only/,
  },
  {
    what: 'neither a mode nor a level',
    resource: mode({ mode: undefined }),
    message: /at least one of mode and compatibility/,
  },
  {
    what: 'a window without a mode',
    resource: mode({ mode: undefined, compatibility: 'FULL', window: { duration: '1h' } }),
    message: /window is allowed with a mode other than READWRITE only/,
  },
  { what: 'a window without an end', resource: mode({ window: {} }), message: /exactly one of duration and until/ },
  { what: 'an end that is no time', resource: mode({ window: { until: 'tomorrow' } }), message: /spec\.window\.until/ },
  {
    what: 'a scope of the wrong type',
    resource: mode({ scope: { type: 'Context', subject: 's' } }),
    message: /scope\.context is required with type Context/,
  },
  {
    what: "a subject's level",
    resource: mode({ scope: { type: 'Subject', subject: 's' }, compatibility: 'NONE' }),
    message: /compatibility is not allowed with scope type Subject/,
  },
]

/** Changes of immutable fields, which identify the external object. */
export const IMMUTABLE_FIELD_CHANGES: readonly {
  readonly field: string
  readonly before: Manifest
  readonly after: object
}[] = [
  { field: 'workerRef', before: connector({}), after: { workerRef: { name: 'other' } } },
  { field: 'name', before: connector({}), after: { name: 'other' } },
  { field: 'registryRef', before: subject({ schema: SCHEMA }), after: { registryRef: { name: 'other' } } },
  { field: 'subject', before: subject({ schema: SCHEMA, subject: 'a' }), after: { subject: 'b' } },
  { field: 'scope', before: mode({}), after: { scope: { type: 'Subject', subject: 's' } } },
]
