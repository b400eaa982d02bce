import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { checkCommand } from '../../src/cli/commands/check.ts'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { type FindingMarker, findingMarkersOf } from '../support/finding-markers.ts'

const HEAD = `apiVersion: ${API_VERSION}\n`
/** `%` stands for the number of the case, so that all cases are checked in one run. */
const connector = (name: string, spec: string) => `${HEAD}kind: Connector\nmetadata: {name: ${name}%}\nspec:\n${spec}`
const subject = (name: string, spec: string) => `${HEAD}kind: Subject\nmetadata: {name: ${name}%}\nspec:\n${spec}`
const SNAPSHOT = {
  format: 'weir-registry-1',
  contexts: [],
  subjects: Array.from({ length: 30 }, (_, at) => [`line${at}`, `order${at}`])
    .flat()
    .map((name) => ({ subject: name, versions: [{ version: 1, id: 1, schema: '"int"' }] })),
}

const CASES: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  [
    'an unknown field, at its key',
    {
      'a.yaml': connector(
        'a',
        `  class: FileStreamSource
  taskMax: 2
# ^ InvalidManifest
  config: {topic: t}
`,
      ),
    },
  ],
  [
    'a value of the wrong type',
    {
      'a.yaml': connector(
        'a',
        `  class: FileStreamSource
  tasksMax: two
#           ^ InvalidManifest
`,
      ),
    },
  ],
  [
    'a missing field, at the field that should contain it',
    {
      'a.yaml': `${HEAD}kind: Connector
metadata: {name: a%}
spec:
#< InvalidManifest
  tasksMax: 2
`,
    },
  ],
  [
    'wrong connector settings, each at its value',
    {
      'a.yaml': connector(
        'a',
        `  class: FileStreamSource
  config:
    topic: t
    batch.size: many
#               ^ ConfigInvalid
    "header.converter": 'com.example.Missing'
#                       ^ ConfigInvalid
`,
      ),
    },
  ],
  [
    'a missing connector setting, at the map of settings',
    {
      'a.yaml': connector(
        'a',
        `  class: FileStreamSource
  config:
# ^ ConfigInvalid
    file: in.txt
`,
      ),
    },
  ],
  [
    'an incompatible schema in the manifest',
    {
      'a.yaml': subject(
        'order',
        `  schema: '"string"'
#         ^ Incompatible
`,
      ),
      'block.yaml': subject(
        'second',
        `  subject: line%
#         v Incompatible
  schema: |
    "string"
`,
      ),
    },
  ],
  [
    'an invalid schema',
    {
      'a.yaml': subject(
        'a',
        `#         v SchemaInvalid
  schema: >-
    {"type": "record"}
`,
      ),
    },
  ],
  [
    'an incompatible schema of a ConfigMap in another file',
    {
      'a.yaml': subject(
        'order',
        `  schemaFrom:
    configMapKeyRef: {name: schemas%, key: order.avsc}
`,
      ),
      'schemas/order.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: schemas%}
data:
  other.avsc: '"int"'
  order.avsc: '"string"'
#             ^ Incompatible
`,
    },
  ],
  [
    'a ConfigMap that is missing',
    {
      'a.yaml': subject(
        'a',
        `  schemaFrom:
# ^ WaitingForInput
    configMapKeyRef: {name: missing, key: k}
`,
      ),
    },
  ],
  [
    'references to a missing Subject and to a missing version',
    {
      'a.yaml': subject(
        'a',
        `  schema: '{"type": "record", "name": "A", "fields": [{"name": "b", "type": "B"}]}'
  references:
# ^ ReferenceNotFound
    - name: B
      subjectRef: {name: missing}
`,
      ),
      'b.yaml': subject(
        'b',
        `  schema: '{"type": "record", "name": "A", "fields": [{"name": "b", "type": "B"}]}'
  references: [{name: B, subject: nowhere, version: 7}]
# ^ ReferenceNotFound
`,
      ),
    },
  ],
  [
    'references in a circle, in each of its files',
    {
      'a.yaml': subject(
        'a',
        '  schema: \'"int"\'\n  references: [{name: B, subjectRef: {name: b%}}]\n# ^ ReferenceCycle\n',
      ),
      'b.yaml': subject(
        'b',
        '  schema: \'"int"\'\n  references: [{name: A, subjectRef: {name: a%}}]\n# ^ ReferenceCycle\n',
      ),
    },
  ],
  [
    'a resource that is declared twice, at the second one',
    {
      'a.yaml': connector('a', '  class: FileStreamSource\n  config: {topic: t}\n'),
      'b.yaml': `---
# the same name
apiVersion: ${API_VERSION}
#< InvalidManifest
kind: Connector
metadata: {name: a%}
spec: {class: FileStreamSource, config: {topic: t}}
`,
    },
  ],
  [
    'two resources with one name in the runtime, at the name of the newer one',
    {
      'a.yaml': subject('a', '  subject: shared%\n  schema: \'"int"\'\n'),
      'b.yaml': subject(
        'b',
        `  subject: shared%
#          ^ Conflict
  schema: '"int"'
`,
      ),
    },
  ],
  [
    'a mode that cannot be entered',
    {
      'a.yaml': `${HEAD}kind: RegistryMode
metadata: {name: a%}
spec:
  scope: {type: Subject, subject: order%}
  mode: IMPORT
#       ^ ScopeNotEmpty
`,
    },
  ],
  [
    'invalid YAML',
    {
      'a.yaml': `${HEAD}kind: Connector
metadata: {name: a
spec:
#< InvalidManifest
`,
      'tab.yaml': `${HEAD}kind: Connector
metadata:
\tname: a
#< InvalidManifest
`,
      'alias.yaml': connector(
        'a',
        `  class: *nowhere
#        ^ InvalidManifest
`,
      ),
      'twice.yaml': connector(
        'b',
        `  class: FileStreamSource
  class: FileStreamSink
# ^ InvalidManifest
`,
      ),
    },
  ],
  [
    'fields in the documents after the first',
    {
      'a.yaml': `${connector('a', '  class: FileStreamSource\n  config: {topic: t}\n')}---
${subject('b', '  schema: "int"\n#         ^ SchemaInvalid\n')}--- # a comment
# and one more
${connector('c', '  class: FileStreamSource\n  config: {topic: t, batch.size: x}\n#                                ^ ConfigInvalid\n')}...
---
${connector('d', '  clas: FileStreamSource\n# ^ InvalidManifest\n').replace('spec:', 'spec:\n#< InvalidManifest')}`,
    },
  ],
  [
    'a wrong value of an anchor, where it is written',
    {
      'a.yaml': connector(
        'a',
        `  class: FileStreamSource
  config: &base
    topic: t
    batch.size: many
#               ^ ConfigInvalid
`,
      ),
      'merged.yaml': `x-shared: &shared
#< InvalidManifest
  batch.size: many
apiVersion: ${API_VERSION}
kind: Connector
metadata: {name: b%}
spec:
  class: FileStreamSource
  config:
    <<: *shared
    topic: t
`,
      'labels.yaml': `${HEAD}kind: Connector
metadata:
  name: c%
  labels: &shared
    batch.size: many
#               ^ ConfigInvalid
spec:
  class: FileStreamSource
  config:
    <<: *shared
    topic: t
`,
    },
  ],
  [
    'fields after CRLF, tabs, a byte order mark and characters of several bytes',
    {
      'crlf.yaml': connector(
        'a',
        `  class: FileStreamSource
  config:
    topic: t
    batch.size: many
#               ^ ConfigInvalid
`,
      ).replaceAll('\n', '\r\n'),
      'tab.yaml': connector('b', '  class:\tFileStreamSource\n  tasksMax:\t\ttwo\n#           \t^ InvalidManifest\n'),
      'bom.yaml': `\ufeff${connector('c', '  class: 1\n#        ^ InvalidManifest\n')}`,
      'unicode.yaml': connector(
        'd',
        `  class: FileStreamSource
  config: {topic: größe, file: "日本語 😀", batch.size: many}
#                                                    ^ ConfigInvalid
`,
      ),
      'größe ü.yaml': connector(
        'e',
        `  class: FileStreamSource
  clazz: x
# ^ InvalidManifest
  config: {topic: t}
`,
      ),
    },
  ],
  [
    'a file of JSON',
    {
      'a.json': `{"apiVersion": "${API_VERSION}", "kind": "Subject",\n "metadata": {"name": "a%"}, "spec": {"schema": 1}}`,
    },
  ],
]

/** JSON has no comments. */
const JSON_MARKER: FindingMarker = { file: 'a.json', line: 2, column: 50, rule: 'InvalidManifest' }
const OTHER_RULES = ['OtherKind', 'ReferencePending']

/** Runs `weir check` on the files of all cases, each case in a folder. Returns where it found what. */
async function findings(): Promise<readonly FindingMarker[]> {
  const root = mkdtempSync(join(tmpdir(), 'weir-'))
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    for (const [at, [, files]] of CASES.entries()) {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(join(root, 'm', `${at}`, path, '..'), { recursive: true })
        writeFileSync(join(root, 'm', `${at}`, path), text.replaceAll('%', `${at}`))
      }
    }
    writeFileSync(join(root, 'snapshot.json'), JSON.stringify(SNAPSHOT))
    await checkCommand.run([join(root, 'm'), '--snapshot', join(root, 'snapshot.json'), '--output', 'json'])
    const report = JSON.parse(String(write.mock.lastCall?.[0])) as { findings: readonly FindingMarker[] }
    return report.findings.map(({ file, line, column, rule }) => {
      return { file: file.slice(join(root, 'm/').length), line, column, rule }
    })
  } finally {
    write.mockRestore()
    rmSync(root, { recursive: true })
  }
}

describe('weir check reports the file, line and column of', () => {
  let found: readonly FindingMarker[] = []
  beforeAll(async () => {
    found = await findings()
  })

  it.each(CASES.map(([title], at) => [title, at] as const))('%s', (_, at) => {
    const files = CASES[at]![1]
    const numbered = Object.fromEntries(
      Object.entries(files).map(([file, text]) => [file, text.replaceAll('%', `${at}`)]),
    )
    const markers = 'a.json' in files ? [JSON_MARKER] : findingMarkersOf(numbered)
    expect(markers).not.toEqual([])
    const byPosition = (a: FindingMarker, b: FindingMarker) =>
      a.file < b.file ? -1 : Number(a.file > b.file) || a.line - b.line || a.column - b.column
    const own = found
      .filter(({ file, rule }) => file.startsWith(`${at}/`) && !OTHER_RULES.includes(rule))
      .map((finding) => ({ ...finding, file: finding.file.slice(`${at}/`.length) }))
    expect(own).toEqual([...markers].sort(byPosition))
  })
})
