import { describe, expect, it } from 'vitest'
import {
  ConfigError,
  describeConfig,
  field,
  parseConfig,
  type RawConfig,
  unknownKeys,
  validateConfig,
  z,
} from '../../src/sdk/index.ts'

const spec = z.object({
  topic: field.text({ doc: 'Where to.', importance: 'HIGH', nonEmpty: true }),
  'batch.size': field.int({ doc: 'How many.', min: 1, max: 100, group: 'Speed', order: 3, width: 'SHORT' }).default(20),
  ratio: field.double({ doc: 'How much.' }).optional(),
  compact: field.boolean({ doc: 'Whether.' }).default(false),
  hosts: field.list({ doc: 'Where.' }).default(['a', 'b']),
  format: field.oneOf(['BASE64', 'NUMERIC'], { doc: 'How.' }).default('BASE64'),
  password: field.password({ doc: 'Secret.' }).optional(),
  plain: z.coerce.number().int().min(1).default(5).describe('In plain zod.'),
})

function problems(raw: RawConfig): readonly string[] {
  try {
    parseConfig(spec, raw)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map(({ message }) => message)
  }
}

describe('parseConfig', () => {
  it('parses strings by the types of the fields, and sets defaults', () => {
    const raw = {
      topic: ' orders ',
      'batch.size': '7',
      ratio: '1e-1',
      compact: 'TRUE',
      hosts: 'x, ,y',
      format: 'numeric',
    }
    expect(parseConfig(spec, raw)).toEqual({
      topic: 'orders',
      'batch.size': 7,
      ratio: 0.1,
      compact: true,
      hosts: ['x', 'y'],
      format: 'NUMERIC',
      plain: 5,
    })
  })

  it('omits unknown keys, which unknownKeys lists', () => {
    const raw = { topic: 't', 'tasks.max': '1', toString: 'x' }
    expect(Object.keys(parseConfig(spec, raw))).not.toContain('tasks.max')
    expect(unknownKeys(spec, raw)).toEqual(['tasks.max', 'toString'])
  })

  it('reports all problems at once, with key, value and expected value', () => {
    expect(problems({ 'batch.size': 'many', ratio: 'x', compact: 'yes', format: 'HEX', plain: '0' })).toEqual([
      'Missing required configuration "topic" which has no default value.',
      'Invalid value many for configuration batch.size: Not a number of type INT',
      'Invalid value x for configuration ratio: Not a number of type DOUBLE',
      'Invalid value yes for configuration compact: Expected value to be either true or false',
      'Invalid value HEX for configuration format: String must be one of: BASE64, NUMERIC',
      'Invalid value 0 for configuration plain: Too small: expected number to be >=1',
    ])
    expect(problems({ topic: 't', 'batch.size': '0' })).toEqual([
      'Invalid value 0 for configuration batch.size: Value must be at least 1',
    ])
    expect(problems({ topic: 't', 'batch.size': '101' })).toEqual([
      'Invalid value 101 for configuration batch.size: Value must be no more than 100',
    ])
    expect(problems({ topic: '' })).toEqual(['Invalid value  for configuration topic: String must be non-empty'])
  })

  it('does not show the value of a password', () => {
    const strict = z.object({ password: field.password({ doc: 'Secret.' }).min(8, 'at least 8 characters') })
    expect(() => parseConfig(strict, { password: 'hunter2' })).toThrow(
      'Invalid value [hidden] for configuration password: at least 8 characters',
    )
    expect(validateConfig(strict, { password: 'hunter2' })).toMatchObject([{ name: 'password', value: '[hidden]' }])
  })
})

describe('describeConfig', () => {
  const byName = new Map(describeConfig(spec).map((definition) => [definition.name, definition]))

  it('describes each key for forms', () => {
    expect(byName.get('batch.size')).toEqual({
      name: 'batch.size',
      type: 'INT',
      required: false,
      defaultValue: '20',
      importance: 'MEDIUM',
      documentation: 'How many.',
      group: 'Speed',
      order: 3,
      width: 'SHORT',
      displayName: 'batch.size',
      reaches: null,
      recommended: [],
    })
  })

  it('returns types, required keys, and defaults as text', () => {
    const told = [...byName.values()].map(({ name, type, required, defaultValue }) => [
      name,
      type,
      required,
      defaultValue,
    ])
    expect(told).toEqual([
      ['topic', 'STRING', true, null],
      ['batch.size', 'INT', false, '20'],
      ['ratio', 'DOUBLE', false, null],
      ['compact', 'BOOLEAN', false, 'false'],
      ['hosts', 'LIST', false, 'a,b'],
      ['format', 'STRING', false, 'BASE64'],
      ['password', 'PASSWORD', false, null],
      ['plain', 'LONG', false, '5'],
    ])
  })

  it('returns an order only within a group, and recommends the values of an enumeration', () => {
    expect(byName.get('topic')).toMatchObject({ group: null, order: -1 })
    expect(byName.get('format')?.recommended).toEqual(['BASE64', 'NUMERIC'])
    expect(byName.get('plain')?.documentation).toBe('In plain zod.')
  })
})

describe('validateConfig', () => {
  it('returns the effective value and the errors of each key', () => {
    const values = validateConfig(spec, { 'batch.size': '0', hosts: 'x,y' })
    expect(values.slice(0, 5)).toEqual([
      { name: 'topic', value: null, errors: ['Missing required configuration "topic" which has no default value.'] },
      {
        name: 'batch.size',
        value: '0',
        errors: ['Invalid value 0 for configuration batch.size: Value must be at least 1'],
      },
      { name: 'ratio', value: null, errors: [] },
      { name: 'compact', value: 'false', errors: [] },
      { name: 'hosts', value: 'x,y', errors: [] },
    ])
  })
})
