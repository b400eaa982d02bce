import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UNSENT } from '../../../../../src/plugins/connectors/cdc/table.ts'
import { parseLsn, printLsn } from '../../../../../src/plugins/connectors/postgres/cdc/replication/lsn.ts'
import { decodePgoutput } from '../../../../../src/plugins/connectors/postgres/cdc/replication/pgoutput.ts'
import { ReplicationProtocolError } from '../../../../../src/plugins/connectors/postgres/cdc/replication/protocol-error.ts'

/** What a server sent for the SQL of the file: the position of each message and its bytes. */
const { messages: recorded } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'pgoutput.recorded.json'), 'utf8'),
) as { readonly messages: readonly string[] }

const RECORDED = recorded.map((line) => {
  const [lsn, hex] = line.split(' ')
  return { lsn: parseLsn(lsn!), bytes: Buffer.from(hex!, 'hex') }
})

function decodeAll() {
  return RECORDED.map(({ lsn, bytes }) => decodePgoutput(bytes, lsn))
}

function decodeHex(hex: string) {
  return decodePgoutput(Buffer.from(hex.replaceAll(' ', ''), 'hex'), 1n)
}

describe('messages of pgoutput', () => {
  const messages = decodeAll()

  it('of a transaction are its begin, rows and commit', () => {
    const long = 'x'.repeat(3000)
    expect(messages.slice(0, 9).filter(({ kind }) => kind !== 'type')).toMatchObject([
      { kind: 'begin', transactionId: 0x2db, commitLsn: 0x1_52_f0_f8n },
      {
        kind: 'relation',
        relation: {
          schema: 'public',
          name: 'orders',
          replicaIdentity: 'default',
          columns: [
            { name: 'id', typeId: 23, modifier: -1, isIdentity: true },
            { name: 'item', typeId: 25, modifier: -1, isIdentity: false },
            { name: 'price', typeId: 1700, modifier: 655_366, isIdentity: false },
            { name: 'm', isIdentity: false },
          ],
        },
      },
      { kind: 'insert', after: ['1', long, '2.50', 'ok'], lsn: 0x1_52_ed_80n },
      { kind: 'insert', after: ['2', 'grüße ☕', null, null], lsn: 0x1_52_ee_80n },
      { kind: 'update', before: undefined, isBeforeKeyOnly: false, after: ['1', UNSENT, '3.00', 'ok'] },
      { kind: 'update', before: ['2', null, null, null], isBeforeKeyOnly: true, after: ['3', 'grüße ☕', null, null] },
      { kind: 'delete', before: ['1', null, null, null], isBeforeKeyOnly: true },
      { kind: 'commit', commitLsn: 0x1_52_f0_f8n, endLsn: 0x1_52_f1_28n, lsn: 0x1_52_f1_28n },
    ])
  })

  it('have old rows as the replica identity of the table says', () => {
    expect(messages.slice(10, 14)).toMatchObject([
      { kind: 'relation', relation: { name: 'pairs', replicaIdentity: 'full' } },
      { kind: 'insert', after: ['1', null] },
      { kind: 'update', before: ['1', null], isBeforeKeyOnly: false, after: ['1', 'y'] },
      { kind: 'delete', before: ['1', 'y'], isBeforeKeyOnly: false },
    ])
  })

  it('have times in microseconds since 1970', () => {
    const [begin] = messages
    expect(begin).toMatchObject({
      committedAtUs: 1_795_393_642_000_000n + ((begin as { committedAtUs: bigint }).committedAtUs % 1_000_000n),
    })
  })

  it('are truncates, logical messages and origins', () => {
    const others = messages.filter(({ kind }) => ['truncate', 'message', 'origin'].includes(kind))
    expect(others).toMatchObject([
      { kind: 'truncate', tableIds: [0x40_05, 0x40_0c] },
      { kind: 'message', isTransactional: true, prefix: 'a', content: Buffer.from('inside') },
      { kind: 'message', isTransactional: false, prefix: 'b', content: Buffer.from([0, 255]), lsn: 0x1_53_08_f0n },
      { kind: 'origin', originLsn: parseLsn('16/B374D848'), name: 'elsewhere' },
    ])
  })

  it('describe a table anew after it was changed', () => {
    const relations = messages.flatMap((message) => (message.kind === 'relation' ? [message.relation] : []))
    expect(relations.at(-1)?.columns.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    expect(messages.at(-2)).toMatchObject({ kind: 'insert', after: ['3', 'z', '2026-11-23'] })
  })

  it('that are truncated at any byte are rejected', () => {
    for (const { bytes, lsn } of RECORDED) {
      const lengths = bytes.length > 300 ? [0, 1, 5, 8, 100, bytes.length - 1] : [...bytes.keys()]
      for (const length of lengths) {
        expect(() => decodePgoutput(bytes.subarray(0, length), lsn)).toThrow(ReplicationProtocolError)
      }
    }
  })

  it('that are longer than their content are rejected', () => {
    for (const { bytes, lsn } of RECORDED) {
      expect(() => decodePgoutput(Buffer.concat([bytes, Buffer.of(0)]), lsn)).toThrow('has 1 bytes after its end')
    }
  })

  it('with a wrong count or length are rejected before memory is allocated', () => {
    expect(() => decodeHex('54 ffffffff 00')).toThrow('expected 4 bytes at byte 6 of 6')
    expect(() => decodeHex('49 00000001 4e ffff 6e')).toThrow('is truncated: expected ')
    expect(() => decodeHex('49 00000001 4e 0001 74 ffffffff')).toThrow('expected 4294967295 bytes')
    expect(() => decodeHex('52 00000001 00 00 64 ffff')).toThrow('is truncated: expected ')
  })

  it.each([
    ['5a', "has the unknown type 'Z'"],
    ['49 00000001 4b 0000', "has 'K' before a row: expected one of N"],
    ['55 00000001 58 0000', "has 'X' before a row: expected one of K, O, N"],
    ['49 00000001 4e 0001 62 00000000', "a value in the unknown format 'b'"],
    ['52 00000001 00 7400 78 0000', "the unknown replica identity 'x' for pg_catalog.t"],
  ])('with unknown content are rejected: %s', (hex, reason) => {
    expect(() => decodeHex(hex)).toThrow(reason)
  })

  it('with random bytes are rejected or decoded, and nothing else', () => {
    let state = 1
    const random = () => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      return state
    }
    for (let round = 0; round < 2000; round++) {
      const { bytes, lsn } = RECORDED[random() % RECORDED.length]!
      if (bytes.length > 300) continue
      const damaged = Buffer.from(bytes)
      for (let count = 0; count < 3; count++) damaged[random() % damaged.length] = random() % 256
      try {
        decodePgoutput(damaged, lsn)
      } catch (error) {
        expect(error).toBeInstanceOf(ReplicationProtocolError)
      }
    }
  })
})

describe('positions in the log', () => {
  it.each(['0/0', '16/B374D848', 'FFFFFFFF/FFFFFFFF'])('are printed as they were parsed: %s', (text) => {
    expect(printLsn(parseLsn(text))).toBe(text)
  })

  it.each(['', '16', '16/B374D8480', 'x/1'])('in another form are rejected: %s', (text) => {
    expect(() => parseLsn(text)).toThrow(`'${text}' is not a position in the log of a server`)
  })
})
