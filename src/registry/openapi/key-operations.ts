import { arrayOf, integerSchema, schemaRef, stringSchema } from '../../http/openapi-document.ts'
import type { Operation } from './operations.ts'

const KEKS = '/dek-registry/v1/keks'
const KEK = `${KEKS}/{name}`
const DEKS = `${KEK}/deks`
const DEK = `${DEKS}/{subject}`
const VERSION = `${DEK}/versions/{version}`

/** The operations of the DEK registry. */
export const KEY_OPERATIONS: Readonly<Record<string, Operation>> = {
  [`GET ${KEKS}`]: {
    summary: 'Lists the names of the KEKs',
    query: ['subjectPrefix', 'deleted', 'offset', 'limit'],
    response: arrayOf(stringSchema),
  },
  [`POST ${KEKS}`]: { summary: 'Creates a KEK', query: ['testSharing'], body: 'NewKek', response: schemaRef('Kek') },
  [`GET ${KEK}`]: { summary: 'Returns a KEK', query: ['deleted'], response: schemaRef('Kek') },
  [`PUT ${KEK}`]: { summary: 'Updates a KEK', query: ['testSharing'], body: 'KekUpdate', response: schemaRef('Kek') },
  [`DELETE ${KEK}`]: { summary: 'Deletes a KEK that has no DEKs', query: ['permanent'] },
  [`POST ${KEK}/undelete`]: { summary: 'Undeletes a soft-deleted KEK' },
  [`POST ${KEK}/test`]: {
    summary: 'Tests whether the KMS can encrypt with a shared KEK',
    response: schemaRef('TestedKek'),
  },
  [`GET ${DEKS}`]: {
    summary: 'Lists the subjects that have a DEK of a KEK',
    query: ['deleted', 'offset', 'limit'],
    response: arrayOf(stringSchema),
  },
  [`POST ${DEKS}`]: {
    summary: 'Creates a DEK for the subject in the body',
    body: 'NewDek',
    response: schemaRef('Dek'),
  },
  [`GET ${DEK}`]: {
    summary: 'Returns the first version of a DEK',
    query: ['algorithm', 'deleted'],
    response: schemaRef('Dek'),
  },
  [`POST ${DEK}`]: {
    summary: 'Creates a DEK for a subject',
    query: ['rewrap'],
    body: 'NewDek',
    response: schemaRef('Dek'),
  },
  [`DELETE ${DEK}`]: { summary: 'Deletes all versions of a DEK', query: ['algorithm', 'permanent'] },
  [`POST ${DEK}/undelete`]: { summary: 'Undeletes all soft-deleted versions of a DEK', query: ['algorithm'] },
  [`GET ${DEK}/versions`]: {
    summary: 'Lists the versions of a DEK',
    query: ['algorithm', 'deleted', 'offset', 'limit'],
    response: arrayOf(integerSchema),
  },
  [`GET ${VERSION}`]: {
    summary: 'Returns one version of a DEK: a number, latest or -1',
    query: ['algorithm', 'deleted'],
    response: schemaRef('Dek'),
  },
  [`DELETE ${VERSION}`]: { summary: 'Deletes one version of a DEK', query: ['algorithm', 'permanent'] },
  [`POST ${VERSION}/undelete`]: { summary: 'Undeletes one soft-deleted version of a DEK', query: ['algorithm'] },
}
