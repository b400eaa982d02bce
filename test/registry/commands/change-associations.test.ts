import { expect, it, onTestFinished } from 'vitest'
import { decideAssociations } from '../../../src/registry/commands/change-associations.ts'
import { startTestRegistry } from '../../support/registry.ts'

const change = (associationType: string, text: string) => ({
  subject: undefined,
  associationType,
  lifecycle: 'STRONG' as const,
  frozen: true,
  schema: {
    schema: { type: 'AVRO' as const, text, references: [], metadata: undefined, ruleSet: undefined },
    id: -1,
    version: 0,
    normalize: false,
  },
})
const REQUEST = {
  resourceName: 't',
  resourceNamespace: 'ns',
  resourceId: 'id-1',
  resourceType: 'topic',
  changes: [change('key', '"int"'), change('value', '"string"')],
}

it('the schemas and associations of a resource are one batch, so that none of them is written alone', async () => {
  const { registry, stop, written } = await startTestRegistry()
  onTestFinished(stop)
  const { records, answer } = await registry.withDecisionContext((context) =>
    decideAssociations(context, REQUEST, { isCreate: true, dryRun: false }),
  )
  expect(records.map(({ kind }) => kind)).toEqual(['context', 'schema', 'schema', 'association', 'association'])
  expect([...answer.schemas.values()].map(({ subject, id }) => [subject, id])).toEqual([
    [':.ns:t-key', 1],
    [':.ns:t-value', 2],
  ])
  expect(written).toEqual([])
})

it('two equal schemas of a resource get the same ID', async () => {
  const { registry, stop } = await startTestRegistry()
  onTestFinished(stop)
  const request = { ...REQUEST, changes: [change('key', '"int"'), change('value', '"int"')] }
  const { answer } = await registry.withDecisionContext((context) =>
    decideAssociations(context, request, { isCreate: true, dryRun: false }),
  )
  expect([...answer.schemas.values()].map(({ id }) => id)).toEqual([1, 1])
})
