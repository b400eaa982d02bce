import { arrayOf, integerSchema, schemaRef, stringSchema } from '../../http/openapi.ts'
import type { Operation } from './operations.ts'

const KEKS = '/dek-registry/v1/keks'
const KEK = `${KEKS}/{name}`
const DEKS = `${KEK}/deks`
const DEK = `${DEKS}/{subject}`
const VERSION = `${DEK}/versions/{version}`

/** The DEK registry. */
export const KEY_OPERATIONS: Readonly<Record<string, Operation>> = {
  [`GET ${KEKS}`]: {
    summary: 'The names of KEKs',
    query: ['subjectPrefix', 'deleted', 'offset', 'limit'],
    answer: arrayOf(stringSchema),
  },
  [`POST ${KEKS}`]: { summary: 'Creates a KEK', query: ['testSharing'], body: 'NewKek', answer: schemaRef('Kek') },
  [`GET ${KEK}`]: { summary: 'A KEK', query: ['deleted'], answer: schemaRef('Kek') },
  [`PUT ${KEK}`]: { summary: 'Changes a KEK', query: ['testSharing'], body: 'KekUpdate', answer: schemaRef('Kek') },
  [`DELETE ${KEK}`]: { summary: 'Deletes a KEK that no DEK needs', query: ['permanent'] },
  [`POST ${KEK}/undelete`]: { summary: 'Restores a soft-deleted KEK' },
  [`POST ${KEK}/test`]: { summary: 'Tests that the KMS encrypts with a shared KEK', answer: schemaRef('TestedKek') },
  [`GET ${DEKS}`]: {
    summary: 'The subjects that have a DEK',
    query: ['deleted', 'offset', 'limit'],
    answer: arrayOf(stringSchema),
  },
  [`POST ${DEKS}`]: { summary: 'Creates a DEK for the subject of the body', body: 'NewDek', answer: schemaRef('Dek') },
  [`GET ${DEK}`]: { summary: 'The first version of a DEK', query: ['algorithm', 'deleted'], answer: schemaRef('Dek') },
  [`POST ${DEK}`]: { summary: 'Creates a DEK', query: ['rewrap'], body: 'NewDek', answer: schemaRef('Dek') },
  [`DELETE ${DEK}`]: { summary: 'Deletes all versions of a DEK', query: ['algorithm', 'permanent'] },
  [`POST ${DEK}/undelete`]: { summary: 'Restores all soft-deleted versions of a DEK', query: ['algorithm'] },
  [`GET ${DEK}/versions`]: {
    summary: 'The versions of a DEK',
    query: ['algorithm', 'deleted', 'offset', 'limit'],
    answer: arrayOf(integerSchema),
  },
  [`GET ${VERSION}`]: {
    summary: 'One version of a DEK: a number, latest or -1',
    query: ['algorithm', 'deleted'],
    answer: schemaRef('Dek'),
  },
  [`DELETE ${VERSION}`]: { summary: 'Deletes one version of a DEK', query: ['algorithm', 'permanent'] },
  [`POST ${VERSION}/undelete`]: { summary: 'Restores one soft-deleted version of a DEK', query: ['algorithm'] },
}
