import { describe, expect, it } from 'vitest'
import { type Mode, REGISTRY_MODES } from '../../../src/clients/registry-client.ts'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// The outcome of each operation on a subject in each mode of the contract.

const INT = { schema: '"int"' }
const LONG = { schema: '"long"' }
const S: Request = ['POST /subjects/s/versions', INT]

const OK = { status: 200, answer: expect.anything() }
const rejected = (where: string) => errorResponse(42205, `Subject s in context . is ${where} mode`)
const READONLY = rejected('in read-only')
const NO_IMPORT = rejected('not in import')
const NO_READWRITE = rejected('not in read-write')
const MODE_NOT_FOUND = errorResponse(40409, expect.any(String))
const IMPORT_SET = { status: 200, answer: { mode: 'IMPORT' } }
const HAS_SUBJECTS = errorResponse(42205, 'Cannot import since found existing subjects')

type Outcome = Pick<RegistryCase, 'status' | 'answer'>

/** Operations on a subject with one version. With `soft`, the subject is soft-deleted first. */
const OPERATIONS = {
  'reading a version': { when: ['GET /subjects/s/versions/latest'] },
  'looking up a schema': { when: ['POST /subjects/s', INT] },
  'checking compatibility': { when: ['POST /compatibility/subjects/s/versions/latest', LONG] },
  'registering a schema that is already registered': { when: S },
  'registering a new schema': { when: ['POST /subjects/s/versions', LONG] },
  'registering a new schema with an ID': { when: ['POST /subjects/s/versions', { ...LONG, id: 7 }] },
  'registering a new schema with an ID and a version': {
    when: ['POST /subjects/s/versions', { ...LONG, id: 7, version: 5 }],
  },
  'registering an incompatible schema with an ID': {
    when: ['POST /subjects/s/versions', { schema: '"string"', id: 7 }],
  },
  'soft-deleting a version': { when: ['DELETE /subjects/s/versions/1'] },
  'hard-deleting a version': { when: ['DELETE /subjects/s/versions/1?permanent=true'], soft: true },
  'soft-deleting a subject': { when: ['DELETE /subjects/s'] },
  'hard-deleting a subject': { when: ['DELETE /subjects/s?permanent=true'], soft: true },
  'setting the config': { when: ['PUT /config/s', { compatibility: 'NONE' }] },
  'deleting the config': { when: ['DELETE /config/s'] },
  'setting the mode to READONLY': { when: ['PUT /mode/s', { mode: 'READONLY' }] },
  'setting the mode to IMPORT': { when: ['PUT /mode/s', { mode: 'IMPORT' }] },
  'setting the mode to IMPORT with force=true': { when: ['PUT /mode/s?force=true', { mode: 'IMPORT' }] },
} as const satisfies Readonly<Record<string, { readonly when: Request; readonly soft?: true }>>
type Operation = keyof typeof OPERATIONS

/** The operations that a mode rejects or whose response differs. All others return 200. */
const READONLY_ROW: Partial<Record<Operation, Outcome>> = {
  'registering a new schema': READONLY,
  'registering a new schema with an ID': READONLY,
  'registering a new schema with an ID and a version': READONLY,
  'registering an incompatible schema with an ID': READONLY,
  'soft-deleting a version': READONLY,
  'hard-deleting a version': READONLY,
  'soft-deleting a subject': READONLY,
  'hard-deleting a subject': READONLY,
  'setting the config': READONLY,
  'deleting the config': READONLY,
  'setting the mode to IMPORT': HAS_SUBJECTS,
}
const IMPORT_ROW: Partial<Record<Operation, Outcome>> = {
  'registering a new schema': NO_READWRITE,
  'setting the mode to IMPORT': IMPORT_SET,
}
const TABLE: Readonly<Record<Mode, Partial<Record<Operation, Outcome>>>> = {
  READWRITE: {
    'registering a new schema with an ID': NO_IMPORT,
    'registering a new schema with an ID and a version': NO_IMPORT,
    'registering an incompatible schema with an ID': NO_IMPORT,
    'setting the mode to IMPORT': HAS_SUBJECTS,
  },
  READONLY: READONLY_ROW,
  READONLY_OVERRIDE: READONLY_ROW,
  IMPORT: IMPORT_ROW,
  FORWARD: { ...IMPORT_ROW, 'setting the mode to IMPORT': HAS_SUBJECTS },
}

describe.each(REGISTRY_MODES)('in mode %s', (mode) => {
  const scope = mode === 'FORWARD' ? '/mode/:.__GLOBAL:' : '/mode'
  const enter: Request = [`PUT ${scope}?force=true`, { mode }]

  it.each(Object.keys(OPERATIONS) as Operation[])(
    '%s is allowed or rejected as in Confluent’s registry',
    { tags: ['slow'] },
    (operation) => {
      const { when, soft } = { soft: false, ...OPERATIONS[operation] }
      const softDelete: readonly Request[] = soft ? [['DELETE /subjects/s']] : []
      const config: Request = ['PUT /config/s', { compatibility: 'BACKWARD' }]
      return expectRow({ given: [S, config, ...softDelete, enter], when, ...(TABLE[mode][operation] ?? OK) })
    },
  )
})

describe('the effective mode of a subject', () => {
  it.each<readonly [string, RegistryCase]>([
    ['is its own mode rather than that of its context', row('PUT /mode/s', 'READWRITE', 'PUT /mode', 'READONLY', OK)],
    [
      'is that of its context rather than the global one',
      row('PUT /mode', 'READWRITE', 'PUT /mode/:.__GLOBAL:', 'READONLY', OK),
    ],
    [
      'is the global one rather than the server’s default',
      { given: [['PUT /mode/:.__GLOBAL:', { mode: 'READONLY' }]], when: S, ...READONLY },
    ],
    [
      'is its own mode even if that of its context is READONLY_OVERRIDE',
      row('PUT /mode/s', 'READWRITE', 'PUT /mode', 'READONLY_OVERRIDE', OK),
    ],
  ])('%s', (_, one) => expectRow(one))
})

describe('deleting a mode', () => {
  const MODES: readonly Request[] = ['PUT /mode', 'PUT /mode/:.c:', 'PUT /mode/:.c:a', 'PUT /mode/:.c:b'].map(
    (line) => [line, { mode: 'READONLY' }] as const,
  )
  it.each([
    [
      'of a subject with recursive=true deletes only its own mode',
      'DELETE /mode/:.c:a?recursive=true',
      'GET /mode/:.c:b',
      OK,
    ],
    [
      'of a context with recursive=true deletes the modes of its subjects',
      'DELETE /mode/:.c:?recursive=true',
      'GET /mode/:.c:b',
      MODE_NOT_FOUND,
    ],
    [
      'of the default context with recursive=true keeps the modes of other contexts',
      'DELETE /mode?recursive=true',
      'GET /mode/:.c:b',
      OK,
    ],
    [
      'of the global scope with recursive=true deletes all modes',
      'DELETE /mode/:.__GLOBAL:?recursive=true',
      'GET /mode/:.c:b',
      MODE_NOT_FOUND,
    ],
    ['of a context without recursive=true keeps the modes of its subjects', 'DELETE /mode/:.c:', 'GET /mode/:.c:b', OK],
  ] as const)('%s', (_, deletion, when, outcome) =>
    expectRow({ given: [...MODES, [deletion]], when: [when], ...outcome }),
  )
})

function row(inner: string, mode: Mode, outer: string, outerMode: Mode, outcome: Outcome): RegistryCase {
  return {
    given: [
      [inner, { mode }],
      [outer, { mode: outerMode }],
    ],
    when: S,
    ...outcome,
  }
}
