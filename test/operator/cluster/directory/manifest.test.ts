import { describe, expect, it } from 'vitest'
import { API_VERSION } from '../../../../src/common/resource-api.ts'
import { readManifests } from '../../../../src/operator/cluster/directory/manifest.ts'

const HEAD = `apiVersion: ${API_VERSION}\n`
const CONNECTOR = `${HEAD}kind: Connector\nmetadata: {name: c}\nspec:\n`
const SUBJECT = `${HEAD}kind: Subject\nmetadata: {name: s}\nspec:\n`

describe('a file of manifests', () => {
  it('reports the first line of each document', () => {
    const { resources, manifestErrors } = readManifests(
      `# two of them\n${CONNECTOR}  class: A\n---\n\n${SUBJECT}  schema: '"int"'\n`,
      'f.yaml',
    )
    expect(manifestErrors).toEqual([])
    expect(resources.map(({ declared, line }) => [declared.kind, declared.name, line])).toEqual([
      ['Connector', 'c', 2],
      ['Subject', 's', 9],
    ])
  })

  it('may be JSON, empty, or contain only comments', () => {
    const value = { apiVersion: API_VERSION, kind: 'Connector', metadata: { name: 'j' }, spec: { class: 'A' } }
    expect(readManifests(JSON.stringify(value), 'f.json').resources[0]?.declared).toMatchObject({
      kind: 'Connector',
      namespace: 'default',
      name: 'j',
      spec: { class: 'A', tasksMax: 1, deletionPolicy: 'Delete' },
    })
    for (const text of ['', '\n', '# nothing\n', '---\n---\n']) {
      expect(readManifests(text, 'f.yaml')).toEqual({ resources: [], configMaps: [], manifestErrors: [] })
    }
  })

  it('may contain ConfigMaps', () => {
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: n}\ndata: {a: "1", b: "2"}\n'
    expect(readManifests(text, 'f.yaml').configMaps).toEqual([
      { namespace: 'n', name: 'm', data: { a: '1', b: '2' }, line: 1 },
    ])
  })

  it('may contain fields that the API server sets', () => {
    const text = `${HEAD}kind: Connector
metadata: {name: c, uid: u, resourceVersion: "7", generation: 3, managedFields: []}
spec: {class: A}
status: {conditions: []}
`
    expect(readManifests(text, 'f.yaml')).toMatchObject({
      resources: [{ declared: { name: 'c' } }],
      manifestErrors: [],
    })
  })

  it('keeps its valid documents when another one is invalid, and reports the name of the invalid one', () => {
    const text = `${CONNECTOR}  clas: A\n---\n${HEAD}kind: Connector\nmetadata: {name: good}\nspec: {class: A}\n`
    const { resources, manifestErrors } = readManifests(text, 'f.yaml')
    expect(resources.map(({ declared }) => declared.name)).toEqual(['good'])
    expect(manifestErrors.map(({ key }) => key)).toEqual(['Connector/default/c', 'Connector/default/c'])
  })
})

describe('an error has line, column and field:', () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['no mapping', 'just text\n', ["1:1 expected a resource, got 'just text'"]],
    ['a list', '- a\n', ['1:1 expected a resource, got a list']],
    ['no kind', HEAD, ['1:1 kind is missing: expected one of RegistryMode, Subject, Connector']],
    ['an unknown kind', `${HEAD}kind: Subjct\n`, ["2:7 kind: 'Subjct' is not a kind of Weir: did you mean Subject?"]],
    [
      'a kind of another API',
      `${HEAD}kind: Deployment\n`,
      ["2:7 kind: 'Deployment' is not a kind of Weir: expected one of RegistryMode, Subject, Connector"],
    ],
    [
      'another version',
      `apiVersion: weir.dev/v9\nkind: Connector\nmetadata: {name: c}\nspec: {class: A}\n`,
      [`1:13 apiVersion is 'weir.dev/v9': expected ${API_VERSION}`],
    ],
    [
      'an unknown field',
      `${CONNECTOR}  class: A\n  taskMax: 2\n`,
      ['6:3 spec.taskMax: unknown field; did you mean tasksMax?'],
    ],
    ['a wrong type', `${CONNECTOR}  class: A\n  tasksMax: two\n`, ["6:13 spec.tasksMax: expected a number, got 'two'"]],
    [
      'a number where a text belongs',
      `${CONNECTOR}  class: A\n  config:\n    rate: 10\n`,
      ['7:11 spec.config.rate: expected a string, got the number 10; put it in quotes: "10"'],
    ],
    [
      'numbers that JavaScript would print in another way',
      `${CONNECTOR}  class: A\n  tasksMax: 1.50\n  config:\n    version: 1.0\n    id: 0x10\n`,
      [
        '6:13 spec.tasksMax: expected a whole number, got the number 1.50',
        '8:14 spec.config.version: expected a string, got the number 1.0; put it in quotes: "1.0"',
        '9:9 spec.config.id: expected a string, got the number 0x10; put it in quotes: "0x10"',
      ],
    ],
    [
      'a number that is too small',
      `${CONNECTOR}  class: A\n  tasksMax: 0\n`,
      ['6:13 spec.tasksMax: the number 0 is too small: at least 1'],
    ],
    [
      'a value that is none of the allowed ones',
      `${SUBJECT}  schema: '"int"'\n  compatibility: BACKWARDS\n`,
      ["6:18 spec.compatibility: 'BACKWARDS' is not allowed; did you mean BACKWARD?"],
    ],
    ['a missing field', `${CONNECTOR}  tasksMax: 2\n`, ['4:1 spec.class is missing: expected a string']],
    [
      'a rule over several fields',
      `${SUBJECT}  schema: '"int"'\n  schemaFrom: {configMapKeyRef: {name: m, key: k}}\n`,
      ['4:1 spec: schema and schemaFrom must not both be set'],
    ],
    [
      'a name that Kubernetes would refuse',
      `${HEAD}kind: Connector\nmetadata:\n  name: My_Connector\nspec: {class: A}\n`,
      ["4:9 metadata.name: 'My_Connector' must consist of lower-case letters, digits, - and ., such as orders-value"],
    ],
    ['a key written twice', `${CONNECTOR}  class: A\n  class: B\n`, ['6:3 is not YAML: the key class is used twice']],
    [
      'an alias that leads nowhere',
      `${CONNECTOR}  class: *nowhere\n`,
      ['5:10 is not YAML: *nowhere has no anchor before it'],
    ],
    [
      'several at once, in their order',
      `${CONNECTOR}  clas: A\n  tasksMax: two\n`,
      [
        '4:1 spec.class is missing: expected a string',
        '5:3 spec.clas: unknown field; did you mean class?',
        "6:13 spec.tasksMax: expected a number, got 'two'",
      ],
    ],
  ]
  it.each(cases)('%s', (_, text, sentences) => {
    const { resources, manifestErrors } = readManifests(text, 'f.yaml')
    expect(resources).toEqual([])
    const told = manifestErrors.map(({ line, column, message }) => `${line}:${column} ${message}`)
    expect(told.map((sentence, at) => sentence.slice(0, sentences[at]?.length))).toEqual(sentences)
  })

  it('a document with exponentially expanding aliases is rejected', () => {
    const levels = Array.from({ length: 12 }, (_, at) =>
      at === 0
        ? 'a0: &a0 [x, x, x, x, x, x, x, x, x]'
        : `a${at}: &a${at} [${Array(9)
            .fill(`*a${at - 1}`)
            .join(', ')}]`,
    )
    const [fault] = readManifests(levels.join('\n'), 'f.yaml').manifestErrors
    expect(fault?.message).toMatch(/alias/)
  })
})
