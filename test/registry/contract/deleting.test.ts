import { describe, expect, it } from 'vitest'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// One row for each statement of the contract about deletion.

const versions = (subject: string, ...schemas: string[]): readonly Request[] =>
  schemas.map((schema) => [`POST /subjects/${subject}/versions?force=true`, { schema: `"${schema}"` }])
const record = (name: string, ...types: string[]) => ({
  schema: JSON.stringify({ type: 'record', name, fields: types.map((type, at) => ({ name: `f${at}`, type })) }),
})
const referencesTo = (...subjects: string[]) => ({
  references: subjects.map((subject) => ({ name: subject.toUpperCase(), subject, version: 1 })),
})
const A: Request = ['POST /subjects/a/versions', record('A')]
const B: Request = ['POST /subjects/b/versions', { ...record('B', 'A'), ...referencesTo('a') }]
const S2 = versions('s', 'int', 'long')
const SOFT: Request = ['DELETE /subjects/s']
const HARD: Request = ['DELETE /subjects/s?permanent=true']
const V1: Request = ['DELETE /subjects/s/versions/1']
const V1_HARD: Request = ['DELETE /subjects/s/versions/1?permanent=true']

const ROWS: Readonly<Record<string, RegistryCase>> = {
  'soft-deleting a subject returns its live versions': { given: S2, when: SOFT, answer: [1, 2] },
  'soft-deleting a subject does not return versions that were already deleted': {
    given: [...S2, V1],
    when: SOFT,
    answer: [2],
  },
  'a soft-deleted subject is not listed': { given: [...S2, SOFT], when: ['GET /subjects'], answer: [] },
  'a soft-deleted subject is listed with deleted=true': {
    given: [...S2, SOFT],
    when: ['GET /subjects?deleted=true'],
    answer: ['s'],
  },
  'the schemas of a soft-deleted subject can be read by ID': {
    given: [...S2, SOFT],
    when: ['GET /schemas/ids/1/schema'],
    answer: 'int',
  },
  'a soft-deleted version can be read with deleted=true': {
    given: [...S2, SOFT],
    when: ['GET /subjects/s/versions/2/schema?deleted=true'],
    answer: 'long',
  },
  'hard-deleting a subject returns all its versions': { given: [...S2, V1, SOFT], when: HARD, answer: [1, 2] },
  'hard-deleting a subject fails with 40405 if a version is not soft-deleted': {
    given: [...S2, V1],
    when: HARD,
    ...errorResponse(40405, expect.any(String)),
  },
  'a hard-deleted subject is not listed with deleted=true': {
    given: [...S2, SOFT, HARD],
    when: ['GET /subjects?deleted=true'],
    answer: [],
  },
  'the schemas of a hard-deleted subject cannot be read by ID': {
    given: [...S2, SOFT, HARD],
    when: ['GET /schemas/ids/1'],
    ...errorResponse(40403, 'Schema 1 not found'),
  },
  'hard-deleting a subject a second time fails with 40401': {
    given: [...S2, SOFT, HARD],
    when: HARD,
    ...errorResponse(40401, "Subject 's' not found."),
  },
  'hard-deleting a subject deletes its mode': {
    given: [...S2, ['PUT /mode/s', { mode: 'READWRITE' }], SOFT, HARD],
    when: ['GET /mode/s'],
    ...errorResponse(40409, expect.any(String)),
  },
  'hard-deleting a subject deletes its config': {
    given: [...S2, ['PUT /config/s', { compatibility: 'NONE' }], SOFT, HARD],
    when: ['GET /config/s'],
    ...errorResponse(40408, expect.any(String)),
  },
  'soft-deleting a version returns its number': { given: S2, when: V1, answer: 1 },
  'deleting the version latest deletes the last live version': {
    given: S2,
    when: ['DELETE /subjects/s/versions/latest'],
    answer: 2,
  },
  'deleting the version -1 deletes the last live version': {
    given: [...S2, ['DELETE /subjects/s/versions/2']],
    when: ['DELETE /subjects/s/versions/-1'],
    answer: 1,
  },
  'latest does not return a soft-deleted version': {
    given: [...S2, ['DELETE /subjects/s/versions/2']],
    when: ['GET /subjects/s/versions/latest/schema'],
    answer: 'int',
  },
  'hard-deleting a version returns its number': { given: [...S2, V1], when: V1_HARD, answer: 1 },
  'a hard-deleted version is not listed with deleted=true': {
    given: [...S2, V1, V1_HARD],
    when: ['GET /subjects/s/versions?deleted=true'],
    answer: [2],
  },
  'soft-deleting a version fails with 42206 while a live schema references it': {
    given: [A, B],
    when: ['DELETE /subjects/a/versions/1'],
    ...errorResponse(42206, expect.any(String)),
  },
  'soft-deleting a version succeeds if only soft-deleted schemas reference it': {
    given: [A, B, ['DELETE /subjects/b']],
    when: ['DELETE /subjects/a/versions/1'],
    answer: 1,
  },
  'hard-deleting a version fails with 42206 while a soft-deleted schema references it': {
    given: [A, B, ['DELETE /subjects/b'], ['DELETE /subjects/a']],
    when: ['DELETE /subjects/a/versions/1?permanent=true'],
    ...errorResponse(42206, expect.any(String)),
  },
  'hard-deleting a subject fails with 42206 while a soft-deleted schema references it': {
    given: [A, B, ['DELETE /subjects/b'], ['DELETE /subjects/a']],
    when: ['DELETE /subjects/a?permanent=true'],
    ...errorResponse(42206, expect.any(String)),
  },
  'deleting a subject succeeds if only its own versions reference it': {
    given: [A, ['POST /subjects/a/versions?force=true', { ...record('C', 'A'), ...referencesTo('a') }]],
    when: ['DELETE /subjects/a'],
    answer: [1, 2],
  },
  'a version registered after a soft delete gets the next version number': {
    given: [...S2, SOFT],
    when: ['POST /subjects/s/versions', { schema: '"string"' }],
    answer: expect.objectContaining({ version: 3, id: 3 }),
  },
  'a soft-deleted schema that is registered again gets a new version and its old ID': {
    given: [...S2, SOFT],
    when: ['POST /subjects/s/versions', { schema: '"int"' }],
    answer: expect.objectContaining({ version: 3, id: 1 }),
  },
  'registering a soft-deleted schema again hard-deletes its old version': {
    given: [...S2, SOFT, ['POST /subjects/s/versions', { schema: '"int"' }]],
    when: ['GET /subjects/s/versions?deleted=true'],
    answer: [2, 3],
  },
  'registering a soft-deleted schema again keeps the old version if a schema references it': {
    given: [A, B, ['DELETE /subjects/b'], ['DELETE /subjects/a'], A],
    when: ['GET /subjects/a/versions?deleted=true'],
    answer: [1, 2],
  },
  'after a hard delete, version numbers restart at 1 but IDs are not reused': {
    given: [...S2, SOFT, HARD],
    when: ['POST /subjects/s/versions', { schema: '"int"' }],
    answer: expect.objectContaining({ version: 1, id: 3 }),
  },
  'soft-deleted versions are not part of the compatibility check': {
    given: [...S2, SOFT],
    when: ['POST /subjects/s/versions', { schema: '"bytes"' }],
    answer: expect.objectContaining({ version: 3 }),
  },
  'a context without subjects can be deleted': {
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

describe('DELETE of subjects and versions', () => {
  it.each(Object.entries(ROWS))('%s', { tags: ['slow'] }, (_, row) => expectRow(row))
})
