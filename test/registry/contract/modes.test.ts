import { describe, expect, it } from 'vitest'
import { type Mode, REGISTRY_MODES } from '../../../src/clients/registry.ts'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// The contract's modes, a row each, and in the columns all that can be asked of a subject while one of them counts.

const INT = { schema: '"int"' }
const LONG = { schema: '"long"' }
const S: Request = ['POST /subjects/s/versions', INT]

const OK = { status: 200, answer: expect.anything() }
const refused = (where: string) => errorResponse(42205, `Subject s in context . is ${where} mode`)
const READONLY = refused('in read-only')
const NO_IMPORT = refused('not in import')
const NO_READWRITE = refused('not in read-write')
const GONE = errorResponse(40409, expect.any(String))
const ENTERED = { status: 200, answer: { mode: 'IMPORT' } }
const OCCUPIED = errorResponse(42205, 'Cannot import since found existing subjects')

type Outcome = Pick<RegistryCase, 'status' | 'answer'>

/** Asked of a subject with one version, and of one whose versions are soft-deleted where `soft` says so. */
const OPERATIONS = {
  'reads a version': { when: ['GET /subjects/s/versions/latest'] },
  'looks a schema up': { when: ['POST /subjects/s', INT] },
  'checks compatibility': { when: ['POST /compatibility/subjects/s/versions/latest', LONG] },
  'registers what is there': { when: S },
  registers: { when: ['POST /subjects/s/versions', LONG] },
  'registers under an id': { when: ['POST /subjects/s/versions', { ...LONG, id: 7 }] },
  'registers any version under an id': { when: ['POST /subjects/s/versions', { ...LONG, id: 7, version: 5 }] },
  'registers what is incompatible under an id': { when: ['POST /subjects/s/versions', { schema: '"string"', id: 7 }] },
  'deletes a version softly': { when: ['DELETE /subjects/s/versions/1'] },
  'deletes a version for good': { when: ['DELETE /subjects/s/versions/1?permanent=true'], soft: true },
  'deletes a subject softly': { when: ['DELETE /subjects/s'] },
  'deletes a subject for good': { when: ['DELETE /subjects/s?permanent=true'], soft: true },
  'sets config': { when: ['PUT /config/s', { compatibility: 'NONE' }] },
  'deletes config': { when: ['DELETE /config/s'] },
  'sets another mode': { when: ['PUT /mode/s', { mode: 'READONLY' }] },
  'goes into IMPORT': { when: ['PUT /mode/s', { mode: 'IMPORT' }] },
  'goes into IMPORT by force': { when: ['PUT /mode/s?force=true', { mode: 'IMPORT' }] },
} as const satisfies Readonly<Record<string, { readonly when: Request; readonly soft?: true }>>
type Operation = keyof typeof OPERATIONS

/** What a mode does not let through; everything else is answered 200. */
const READONLY_ROW: Partial<Record<Operation, Outcome>> = {
  registers: READONLY,
  'registers under an id': READONLY,
  'registers any version under an id': READONLY,
  'registers what is incompatible under an id': READONLY,
  'deletes a version softly': READONLY,
  'deletes a version for good': READONLY,
  'deletes a subject softly': READONLY,
  'deletes a subject for good': READONLY,
  'sets config': READONLY,
  'deletes config': READONLY,
  'goes into IMPORT': OCCUPIED,
}
const IMPORT_ROW: Partial<Record<Operation, Outcome>> = { registers: NO_READWRITE, 'goes into IMPORT': ENTERED }
const TABLE: Readonly<Record<Mode, Partial<Record<Operation, Outcome>>>> = {
  READWRITE: {
    'registers under an id': NO_IMPORT,
    'registers any version under an id': NO_IMPORT,
    'registers what is incompatible under an id': NO_IMPORT,
    'goes into IMPORT': OCCUPIED,
  },
  READONLY: READONLY_ROW,
  READONLY_OVERRIDE: READONLY_ROW,
  IMPORT: IMPORT_ROW,
  FORWARD: { ...IMPORT_ROW, 'goes into IMPORT': OCCUPIED },
}

describe.each(REGISTRY_MODES)('a registry in mode %s', (mode) => {
  const scope = mode === 'FORWARD' ? '/mode/:.__GLOBAL:' : '/mode'
  const enter: Request = [`PUT ${scope}?force=true`, { mode }]

  it.each(Object.keys(OPERATIONS) as Operation[])('%s', (operation) => {
    const { when, soft } = { soft: false, ...OPERATIONS[operation] }
    const gone: readonly Request[] = soft ? [['DELETE /subjects/s']] : []
    const config: Request = ['PUT /config/s', { compatibility: 'BACKWARD' }]
    return expectRow({ given: [S, config, ...gone, enter], when, ...(TABLE[mode][operation] ?? OK) })
  })
})

describe('the mode that counts', () => {
  it.each<readonly [string, RegistryCase]>([
    ['is the subject’s before that of its context', row('PUT /mode/s', 'READWRITE', 'PUT /mode', 'READONLY', OK)],
    [
      'is the context’s before that of all contexts',
      row('PUT /mode', 'READWRITE', 'PUT /mode/:.__GLOBAL:', 'READONLY', OK),
    ],
    [
      'is that of all contexts before the server’s',
      { given: [['PUT /mode/:.__GLOBAL:', { mode: 'READONLY' }]], when: S, ...READONLY },
    ],
    ['is not overridden by READONLY_OVERRIDE', row('PUT /mode/s', 'READWRITE', 'PUT /mode', 'READONLY_OVERRIDE', OK)],
  ])('%s', (_, one) => expectRow(one))
})

describe('taking a mode away with those within', () => {
  const MODES: readonly Request[] = ['PUT /mode', 'PUT /mode/:.c:', 'PUT /mode/:.c:a', 'PUT /mode/:.c:b'].map(
    (line) => [line, { mode: 'READONLY' }] as const,
  )
  it.each([
    ['of a subject takes its own alone', 'DELETE /mode/:.c:a?recursive=true', 'GET /mode/:.c:b', OK],
    ['of a context takes those of its subjects', 'DELETE /mode/:.c:?recursive=true', 'GET /mode/:.c:b', GONE],
    ['of the default context leaves the others', 'DELETE /mode?recursive=true', 'GET /mode/:.c:b', OK],
    ['of everything takes all', 'DELETE /mode/:.__GLOBAL:?recursive=true', 'GET /mode/:.c:b', GONE],
    ['without being asked leaves those within', 'DELETE /mode/:.c:', 'GET /mode/:.c:b', OK],
  ] as const)('%s', (_, taken, when, outcome) => expectRow({ given: [...MODES, [taken]], when: [when], ...outcome }))
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
