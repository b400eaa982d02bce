import { describe, expect, it } from 'vitest'
import { PacketReader, type ReceivedPacket } from '../../../../src/plugins/connectors/mqtt/packet-reader.ts'
import { connectPacket, publishPacket, subscribePacket } from '../../../../src/plugins/connectors/mqtt/packet-writer.ts'

const LIMIT = 1_000_000

describe('packets of MQTT', () => {
  it('have the bytes of the specification', () => {
    const connect = { clientId: 'c', isClean: true, keepAliveSeconds: 300, user: 'u', password: 'p' }
    expect(connectPacket(connect).toString('hex')).toBe('101300044d51545404c2012c00016300017500017 0'.replace(' ', ''))
    expect(subscribePacket(1, ['a/+'], 2).toString('hex')).toBe('820800010003612f2b02')
    const message = { topic: 't', payload: Buffer.from('x'), id: 7, isRetained: true }
    expect(publishPacket({ ...message, qos: 0 }).toString('hex')).toBe('310400017478')
    expect(publishPacket({ ...message, qos: 2 }).toString('hex')).toBe('35060001740007' + '78')
  })

  it.each([0, 1, 127, 128, 16_383, 16_384, 100_000])(
    'are read from any pieces, with a payload of %i bytes',
    (length) => {
      const message = { topic: 'a/ä', payload: Buffer.alloc(length, 'x'), qos: 1, isRetained: true, id: 258 } as const
      const bytes = Buffer.concat([publishPacket(message), Buffer.from([0xd0, 0, 0x40, 2, 0, 9])])
      for (const size of [1, 2, 3, 7, bytes.length]) {
        if (length > 20_000 && size < 7) continue
        const reader = new PacketReader(LIMIT)
        const packets: ReceivedPacket[] = []
        for (let at = 0; at < bytes.length; at += size) packets.push(...reader.read(bytes.subarray(at, at + size)))
        expect(packets).toEqual([
          { type: 'publish', message: { ...message, isDuplicate: false } },
          { type: 'pingresp' },
          { type: 'puback', id: 9 },
        ])
      }
    },
  )

  it.each([
    ['a length of five bytes', 'ffffffffff01', 'the length of a packet is invalid'],
    ['more bytes than are accepted', '30ffffff7f', 'the maximum is'],
    ['a message with QoS 3', '36050001740001', 'a message is invalid'],
    ['a topic that is longer than the message', '3004000974', 'the packet is not complete'],
    ['a packet of a client', '82020001', 'is not one of a broker'],
    ['an acknowledgement without id', '400101', 'has 1 bytes'],
  ])('are rejected with %s', (_, hex, message) => {
    const read = () => [...new PacketReader(LIMIT).read(Buffer.from(hex, 'hex'))]
    if (message === 'the packet is not complete') expect(read()).toEqual([])
    else expect(read).toThrow(message)
  })
})
