import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinGroupApi, leaveGroupApi, offsetCommitApi } from '../../src/broker/kafka/group-apis.ts'
import type { KafkaApi } from '../../src/broker/kafka/kafka-api.ts'
import { ResponseErrors } from '../../src/broker/kafka/response-errors.ts'
import { byTopic, ProtocolReader, ProtocolWriter } from '../../src/broker/protocol-primitives.ts'
import { propertyRuns } from '../support/property-seed.ts'

const bytesOf = (writer: ProtocolWriter) => Buffer.concat(writer.parts())
const written = <Request>(call: KafkaApi<Request, unknown>, request: Request) => {
  const writer = new ProtocolWriter()
  call.write(writer, request, call.version)
  return bytesOf(writer)
}

describe('protocol primitives', () => {
  it('are read as they were written, with any length', () => {
    const text = fc.string({ maxLength: 1_000 }).map((ascii) => `${ascii}é→𝄞`)
    fc.assert(
      fc.property(
        fc.record({
          int8: fc.integer({ min: -128, max: 127 }),
          int16: fc.integer({ min: -32_768, max: 32_767 }),
          int32: fc.integer(),
          int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
          text: fc.option(text),
          compact: text,
          bytes: fc.uint8Array({ maxLength: 2_000 }),
          list: fc.array(text, { maxLength: 20 }),
        }),
        ({ int8, int16, int32, int64, text: plain, compact, bytes, list }) => {
          const writer = new ProtocolWriter()
            .int8(int8)
            .data(bytes)
            .int16(int16)
            .string(plain)
            .int32(int32)
            .int64(int64)
          writer
            .compactString(compact)
            .noTags()
            .compactArray(list, (one) => writer.compactString(one).noTags())
          writer.array(list, (one) => writer.string(one)).bool(true)
          const reader = new ProtocolReader(bytesOf(writer))
          expect([reader.int8(), Buffer.compare(reader.data(), bytes), reader.int16()]).toEqual([int8, 0, int16])
          expect([reader.nullableString(), reader.int32(), reader.bigInt64()]).toEqual([plain, int32, int64])
          expect(reader.compactString()).toBe(compact)
          reader.skipTags()
          const readOne = () => {
            const one = reader.compactString()
            reader.skipTags()
            return one
          }
          expect(reader.compactArray(readOne)).toEqual(list)
          expect(reader.array(() => reader.string())).toEqual(list)
          expect(reader.bool()).toBe(true)
        },
      ),
      { numRuns: propertyRuns(30) },
    )
  })

  it('skips unknown tagged fields', () => {
    const reader = new ProtocolReader(Buffer.from([2, 0, 1, 99, 7, 2, 1, 2, 42]))
    reader.skipTags()
    expect(reader.int8()).toBe(42)
  })

  it('groups partitions by topic in the order of the request', () => {
    const requested = [
      { topic: 'b', partition: 1 },
      { topic: 'a', partition: 0 },
      { topic: 'b', partition: 0 },
    ]
    expect(byTopic(requested)).toEqual([
      { topic: 'b', partitions: [requested[0], requested[2]] },
      { topic: 'a', partitions: [requested[1]] },
    ])
  })
})

describe('group requests', () => {
  const text = (value: string) =>
    `${Buffer.from([0, value.length]).toString('hex')}${Buffer.from(value).toString('hex')}`

  it('contain the instance id of a static member, and null for others', () => {
    const join = {
      groupId: 'g',
      sessionTimeoutMs: 1,
      rebalanceTimeoutMs: 2,
      memberId: '',
      protocolType: 'p',
      protocols: [],
    }
    const head = `${text('g')}0000000100000002${text('')}`
    expect(written(joinGroupApi, { ...join, instanceId: 'i' }).toString('hex')).toBe(
      `${head}${text('i')}${text('p')}00000000`,
    )
    expect(written(joinGroupApi, join).toString('hex')).toBe(`${head}ffff${text('p')}00000000`)
    const leave = written(leaveGroupApi, { groupId: 'g', memberId: 'm', instanceId: 'i' })
    expect(leave.toString('hex')).toBe(`${text('g')}00000001${text('m')}${text('i')}`)
    const offsets = [{ topic: 't', partition: 2, offset: 3 }]
    const member = { memberId: 'm', generation: 9, instanceId: 'i' }
    expect(written(offsetCommitApi, { groupId: 'g', offsets, member }).toString('hex')).toBe(
      `${text('g')}00000009${text('m')}${text('i')}00000001${text('t')}0000000100000002${'0000000000000003'}ffffffff${text('')}`,
    )
  })

  it('report the error of the member, not only that of the request', () => {
    const response = Buffer.from(`00000000${'0000'}00000001${text('m')}${text('i')}0052`, 'hex')
    const { read, version } = leaveGroupApi
    expect(() => read(new ProtocolReader(response), new ResponseErrors({}), version)).toThrow(
      'leaving the group as m: FENCED_INSTANCE_ID',
    )
  })
})
