import { describe, expect, it } from 'vitest'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// One row for each sentence that the contract says about deleting.

const versions = (subject: string, ...schemas: string[]): readonly Request[] =>
  schemas.map((schema) => [`POST /subjects/${subject}/versions?force=true`, { schema: `"${schema}"` }])
const record = (name: string, ...types: string[]) => ({
  schema: JSON.stringify({ type: 'record', name, fields: types.map((type, at) => ({ name: `f${at}`, type })) }),
})
const to = (...subjects: string[]) => ({
  references: subjects.map((subject) => ({ name: subject.toUpperCase(), subject, version: 1 })),
})
const A: Request = ['POST /subjects/a/versions', record('A')]
const B: Request = ['POST /subjects/b/versions', { ...record('B', 'A'), ...to('a') }]
const S2 = versions('s', 'int', 'long')
const SOFT: Request = ['DELETE /subjects/s']
const HARD: Request = ['DELETE /subjects/s?permanent=true']
const V1: Request = ['DELETE /subjects/s/versions/1']
const V1_HARD: Request = ['DELETE /subjects/s/versions/1?permanent=true']

const ROWS: Readonly<Record<string, RegistryCase>> = {
  'a soft deletion answers the live versions': { given: S2, when: SOFT, answer: [1, 2] },
  'a soft deletion leaves out what was deleted before': { given: [...S2, V1], when: SOFT, answer: [2] },
  'a subject is gone then': { given: [...S2, SOFT], when: ['GET /subjects'], answer: [] },
  'and shows when deleted ones are asked for': {
    given: [...S2, SOFT],
    when: ['GET /subjects?deleted=true'],
    answer: ['s'],
  },
  'its schemas stay readable by id': {
    given: [...S2, SOFT],
    when: ['GET /schemas/ids/1/schema'],
    answer: 'int',
  },
  'and by version when asked for': {
    given: [...S2, SOFT],
    when: ['GET /subjects/s/versions/2/schema?deleted=true'],
    answer: 'long',
  },
  'a hard deletion answers all versions': { given: [...S2, V1, SOFT], when: HARD, answer: [1, 2] },
  'a hard deletion needs all of them soft-deleted': {
    given: [...S2, V1],
    when: HARD,
    ...errorResponse(40405, expect.any(String)),
  },
  'nothing is left of a subject then': { given: [...S2, SOFT, HARD], when: ['GET /subjects?deleted=true'], answer: [] },
  'nor by id': {
    given: [...S2, SOFT, HARD],
    when: ['GET /schemas/ids/1'],
    ...errorResponse(40403, 'Schema 1 not found'),
  },
  'nor can it be deleted again': {
    given: [...S2, SOFT, HARD],
    when: HARD,
    ...errorResponse(40401, "Subject 's' not found."),
  },
  'its mode goes with it': {
    given: [...S2, ['PUT /mode/s', { mode: 'READWRITE' }], SOFT, HARD],
    when: ['GET /mode/s'],
    ...errorResponse(40409, expect.any(String)),
  },
  'its config goes with it': {
    given: [...S2, ['PUT /config/s', { compatibility: 'NONE' }], SOFT, HARD],
    when: ['GET /config/s'],
    ...errorResponse(40408, expect.any(String)),
  },
  'a version’s deletion answers its number': { given: S2, when: V1, answer: 1 },
  'latest is the last live version': { given: S2, when: ['DELETE /subjects/s/versions/latest'], answer: 2 },
  'so is -1': {
    given: [...S2, ['DELETE /subjects/s/versions/2']],
    when: ['DELETE /subjects/s/versions/-1'],
    answer: 1,
  },
  'a deleted version is not the latest': {
    given: [...S2, ['DELETE /subjects/s/versions/2']],
    when: ['GET /subjects/s/versions/latest/schema'],
    answer: 'int',
  },
  'a version’s hard deletion answers its number': { given: [...S2, V1], when: V1_HARD, answer: 1 },
  'a version is gone then': {
    given: [...S2, V1, V1_HARD],
    when: ['GET /subjects/s/versions?deleted=true'],
    answer: [2],
  },
  'a version’s soft deletion is refused while a live schema refers to it': {
    given: [A, B],
    when: ['DELETE /subjects/a/versions/1'],
    ...errorResponse(42206, expect.any(String)),
  },
  'and goes when that is soft-deleted': {
    given: [A, B, ['DELETE /subjects/b']],
    when: ['DELETE /subjects/a/versions/1'],
    answer: 1,
  },
  'its hard deletion is refused even then': {
    given: [A, B, ['DELETE /subjects/b'], ['DELETE /subjects/a']],
    when: ['DELETE /subjects/a/versions/1?permanent=true'],
    ...errorResponse(42206, expect.any(String)),
  },
  'a subject’s too': {
    given: [A, B, ['DELETE /subjects/b'], ['DELETE /subjects/a']],
    when: ['DELETE /subjects/a?permanent=true'],
    ...errorResponse(42206, expect.any(String)),
  },
  'references from within a subject do not count': {
    given: [A, ['POST /subjects/a/versions?force=true', { ...record('C', 'A'), ...to('a') }]],
    when: ['DELETE /subjects/a'],
    answer: [1, 2],
  },
  'version numbers go on after a soft deletion': {
    given: [...S2, SOFT],
    when: ['POST /subjects/s/versions', { schema: '"string"' }],
    answer: expect.objectContaining({ version: 3, id: 3 }),
  },
  'a soft-deleted content comes back as a new version with its old id': {
    given: [...S2, SOFT],
    when: ['POST /subjects/s/versions', { schema: '"int"' }],
    answer: expect.objectContaining({ version: 3, id: 1 }),
  },
  'its older version is gone for good then': {
    given: [...S2, SOFT, ['POST /subjects/s/versions', { schema: '"int"' }]],
    when: ['GET /subjects/s/versions?deleted=true'],
    answer: [2, 3],
  },
  'unless something refers to it': {
    given: [A, B, ['DELETE /subjects/b'], ['DELETE /subjects/a'], A],
    when: ['GET /subjects/a/versions?deleted=true'],
    answer: [1, 2],
  },
  'version numbers start anew after a hard deletion, ids do not': {
    given: [...S2, SOFT, HARD],
    when: ['POST /subjects/s/versions', { schema: '"int"' }],
    answer: expect.objectContaining({ version: 1, id: 3 }),
  },
  'a soft-deleted version takes no part in compatibility': {
    given: [...S2, SOFT],
    when: ['POST /subjects/s/versions', { schema: '"bytes"' }],
    answer: expect.objectContaining({ version: 3 }),
  },
  'an empty context can be deleted': {
    given: [
      ['POST /contexts/c/subjects/s/versions', { schema: '"int"' }],
      ['DELETE /contexts/c/subjects/s'],
      ['DELETE /contexts/c/subjects/s?permanent=true'],
    ],
    when: ['DELETE /contexts/c'],
    status: 204,
    answer: undefined,
  },
}

describe('the contract’s deletions', () => {
  it.each(Object.entries(ROWS))('%s', (_, row) => expectRow(row))
})
