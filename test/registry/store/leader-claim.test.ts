import { expect, it } from 'vitest'
import { claimRecord, nextIdentity, parseClaim, replaceProducerId } from '../../../src/registry/store/leader-claim.ts'
import { openTestBroker } from '../../support/topic.ts'

const identity = (producerId: number, epoch: number) => ({ producerId: BigInt(producerId), epoch })
const none = { last: undefined, rejected: undefined, ofTransactionalId: undefined }

it.each([
  ['takes the next epoch of the last claim', { last: identity(7, 3) }, identity(7, 4)],
  [
    'takes the producer of the transactional ID if there is no claim',
    { ofTransactionalId: identity(5, 2) },
    identity(5, 2),
  ],
  [
    'takes the epoch of the transactional ID if a leader without a claim has used it',
    { last: identity(5, 2), ofTransactionalId: identity(5, 9) },
    identity(5, 9),
  ],
  [
    'keeps the producer of the claims if that of the transactional ID is another one',
    { last: identity(7, 3), ofTransactionalId: identity(5, 9) },
    identity(7, 4),
  ],
  ['skips an epoch that the broker rejected', { last: identity(7, 3), rejected: identity(7, 6) }, identity(7, 7)],
  ['has no identity without a claim', {}, undefined],
  ['has no identity after the last epoch', { last: identity(7, 32_766) }, undefined],
])('a leader %s', (_, sources, expected) => {
  expect(nextIdentity({ ...none, ...sources })).toEqual(expected)
})

it('a claim is read as it was written, and nothing else is a claim', () => {
  const claim = { identity: identity(7, 3), nonce: 'a', retiredIds: { '.': 9, '.c': 2 } }
  const { value } = claimRecord(claim)
  expect(parseClaim(value)).toEqual(claim)
  const withoutIds = '{"leader":{"producerId":"7","epoch":3,"nonce":"a"}}'
  expect(parseClaim(Buffer.from(withoutIds))).toEqual({ ...claim, retiredIds: {} })
  expect(String(claimRecord({ ...claim, retiredIds: {} }).value)).toBe(withoutIds)
  const others = [
    '',
    'null',
    '[]',
    'x',
    '{"leader":{"producerId":7,"epoch":3,"nonce":"a"}}',
    value!.toString().replace(':3', ':32767'),
  ]
  expect(others.map((text) => parseClaim(Buffer.from(text)))).toEqual(others.map(() => undefined))
  expect(parseClaim(null)).toBeUndefined()
})

it('the end of a producer id fences its last leader, also if it is repeated', async () => {
  const broker = await openTestBroker()
  await broker.topics.create({ name: 't', partitions: 1 })
  const { producerId } = await broker.newProducerIdentity()
  const leader = await broker.producer({ identity: { producerId, epoch: 32_766 } })
  const write = () => leader.send([{ topic: 't', partition: 0, key: null, value: null }])
  await write()
  const next = await replaceProducerId(broker, 't', { producerId, epoch: 32_766 })
  expect(next.producerId).not.toBe(producerId)
  await expect(write()).rejects.toMatchObject({ code: 'fenced' })
  await replaceProducerId(broker, 't', { producerId, epoch: 32_766 })
})
