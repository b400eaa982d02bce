import { expect, it } from 'vitest'
import { readObject } from '../../../../src/operator/cluster/kubernetes/custom-object.ts'
import { INITIAL_STATUS } from '../../../../src/operator/resources/resource.ts'

const METADATA = {
  namespace: 'shop',
  name: 'user',
  uid: 'u-1',
  generation: 1,
  resourceVersion: '5',
  creationTimestamp: '2026-01-01T00:00:00Z',
}

it('ignores the fields of a newer definition, which the API server adds if they have defaults', () => {
  const references = [{ name: 'r', subject: 's', version: 1, pinned: true }]
  const newer = { schema: '"int"', pace: 'Normal', references, metadata: { tags: { a: ['PII'] } } }
  const read = readObject('Subject', { metadata: METADATA, spec: newer })
  expect(read).toMatchObject({ resource: { metadata: { name: 'user' }, status: INITIAL_STATUS } })
  const { spec } = 'resource' in read ? read.resource : { spec: undefined }
  expect(spec).toMatchObject({ schema: '"int"', metadata: { tags: { a: ['PII'] } }, schemaType: 'AVRO' })
  expect(spec?.references).toEqual([{ name: 'r', subject: 's', version: 1 }])
  expect(spec).not.toHaveProperty('pace')
})
