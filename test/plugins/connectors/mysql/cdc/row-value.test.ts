import { describe, expect, it } from 'vitest'
import { MysqlGtidSet, parseGtidSet } from '../../../../../src/plugins/connectors/mysql/cdc/binlog/gtid-set.ts'
import { binaryJsonText } from '../../../../../src/plugins/connectors/mysql/cdc/binlog/json-binary.ts'
import { valueReader } from '../../../../../src/plugins/connectors/mysql/cdc/binlog/row-value.ts'
import { COLUMN_TYPE } from '../../../../../src/plugins/connectors/mysql/cdc/binlog/table-map.ts'
import { MysqlReader } from '../../../../../src/plugins/connectors/mysql/protocol/mysql-reader.ts'

const COLUMN = {
  isUnsigned: false,
  labels: ['a', 'b', 'c'],
  toText: (bytes: Buffer) => bytes.toString('utf8'),
  paddedBytes: 0,
}

function read(type: number, meta: number, hex: string, column = COLUMN): string {
  const reader = new MysqlReader(Buffer.from(hex.replaceAll(' ', ''), 'hex'), 'a value')
  const text = valueReader({ type, meta }, column)(reader)
  expect(reader.remaining).toBe(0)
  return text
}

describe('values of the binary log', () => {
  it.each([
    ['a negative number', COLUMN_TYPE.int24, 0, 'ffffff', '-1'],
    ['a decimal of the documentation', COLUMN_TYPE.newDecimal, (14 << 8) | 4, '81 0dfb38d2 04d2', '1234567890.1234'],
    ['its negative', COLUMN_TYPE.newDecimal, (14 << 8) | 4, '7e f204c72d fb2d', '-1234567890.1234'],
    ['a date', COLUMN_TYPE.date, 0, '5dc80f', '2020-02-29'],
    ['a year', COLUMN_TYPE.year, 0, '78', '2020'],
    ['a year of zero', COLUMN_TYPE.year, 0, '00', '0000'],
    ['a time', COLUMN_TYPE.time2, 0, '80 00 01', '00:00:01'],
    ['a negative fraction', COLUMN_TYPE.time2, 6, '7f ff ff ff ff ff', '-00:00:00.000001'],
    ['a date and time', COLUMN_TYPE.datetime2, 0, '99a5bac8b8', '2020-02-29 12:34:56'],
    ['a moment', COLUMN_TYPE.timestamp2, 3, '5e 5a 5d 00 27 10', '2020-02-29 12:45:52.100'],
    ['no moment', COLUMN_TYPE.timestamp2, 0, '00000000', '0000-00-00 00:00:00'],
    ['an enum', COLUMN_TYPE.string, (COLUMN_TYPE.enum << 8) | 1, '02', 'b'],
    ['an invalid enum', COLUMN_TYPE.string, (COLUMN_TYPE.enum << 8) | 1, '00', ''],
    ['a set', COLUMN_TYPE.string, (COLUMN_TYPE.set << 8) | 1, '05', 'a,c'],
    ['a short text', COLUMN_TYPE.varchar, 255, '02 6869', 'hi'],
    ['a long text', COLUMN_TYPE.varchar, 256, '0200 6869', 'hi'],
    ['a blob', COLUMN_TYPE.blob, 3, '010000 41', 'A'],
    ['bits', COLUMN_TYPE.bit, (1 << 8) | 4, '0102', '\u0001\u0002'],
  ])('%s', (_, type, meta, hex, text) => {
    expect(read(type, meta, hex)).toBe(text)
  })

  it('are refused when they are cut off or unknown', () => {
    expect(() => read(COLUMN_TYPE.longLong, 0, '0102')).toThrow('ends before a value of it does')
    expect(() => read(COLUMN_TYPE.string, (COLUMN_TYPE.enum << 8) | 1, '04')).toThrow('of an ENUM with 3 values')
    expect(() => read(99, 0, '')).toThrow('type 99')
    expect(() => read(COLUMN_TYPE.newDecimal, (2 << 8) | 5, '00')).toThrow('2 digits, 5 of them in its fraction')
    expect(() => read(COLUMN_TYPE.varcharCompressed, 1, '')).toThrow('COMPRESSED')
  })

  it('of JSON are texts without spaces', () => {
    const json = (hex: string) => binaryJsonText(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
    // {"a": 1, "b": [true, "x"]}
    const object = '00 0200 2000 1200 0100 1300 0100 05 0100 02 1400 61 62 0200 0c00 04 0100 0c 0a00 01 78'
    expect(json(object)).toBe('{"a":1,"b":[true,"x"]}')
    expect(json('0b 000000000000f03f')).toBe('1.0')
    expect(json('04 00')).toBe('null')
    expect(json('')).toBe('null')
    expect(() => json('00 ffff 0800')).toThrow('ends before')
    expect(() => json('0e')).toThrow('unknown type')
    // Two members with the same place, each of which has two members with the same place: the text would double with each level.
    const level = '02 0200 0a00 02 0a00 02 0a00'
    expect(() => json(`02 0200 ff00 ${'02 0a00 02 0a00'} ${level.repeat(40)}`)).toThrow(/ends before|the same place/)
    expect(() => json('02 0200 0a00 02 0000 02 0000 0000')).toThrow('has members with the same place')
  })
})

describe('sets of GTIDs', () => {
  const UUID = '3e11fa47-71ca-11e1-9e33-c80aa9429562'

  it('of MySQL join intervals, and contain each other', () => {
    const set = MysqlGtidSet.parse(`${UUID}:1-3:5`)
    expect(String(set.with(`${UUID}:4`))).toBe(`${UUID}:1-5`)
    expect(String(set.with(`${UUID}:9`))).toBe(`${UUID}:1-3:5:9`)
    expect(set.isWithin(MysqlGtidSet.parse(`${UUID}:1-9`))).toBe(true)
    expect(MysqlGtidSet.parse(`${UUID}:1-4`).isWithin(set)).toBe(false)
    expect(set.encode().toString('hex')).toBe(
      '0100000000000000' +
        '3e11fa4771ca11e19e33c80aa9429562' +
        '0200000000000000' +
        '0100000000000000' +
        '0400000000000000' +
        '0500000000000000' +
        '0600000000000000',
    )
  })

  it('of MariaDB have the last transaction of each domain', () => {
    const set = parseGtidSet('0-1-5,1-2-3', true)
    expect(String(set.with('0-9-6'))).toBe('0-9-6,1-2-3')
    expect(set.isWithin(parseGtidSet('0-1-5,1-2-4', true))).toBe(true)
    expect(set.isWithin(parseGtidSet('0-1-5', true))).toBe(false)
    expect(() => parseGtidSet('0-1', true)).toThrow('is not a GTID')
  })
})
