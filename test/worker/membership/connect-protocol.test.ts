import { describe, expect, it } from 'vitest'
import {
  encodeWorkerAssignment,
  encodeWorkerMetadata,
  parseWorkerAssignment,
  parseWorkerMetadata,
} from '../../../src/worker/membership/connect-protocol.ts'

// Read from the coordinator of a real group of one Kafka Connect 4.3.1 worker.
const METADATA =
  '00020017687474703a2f2f3132372e302e302e313a32333438332f000000000000007e000000a100020000003c636f6e6e6563742d3132372e302e302e313a32333438332d33323066343262372d383365302d346634652d626536662d6461623464343032353862620017687474703a2f2f3132372e302e302e313a32333438332f000000000000007e0000000300016100000002ffffffff0000000000043130302500000002ffffffff000000000003612f6200000002ffffffff000000000000000000000000'
const ASSIGNMENT =
  '00020000003c636f6e6e6563742d3132372e302e302e313a32333438332d33323066343262372d383365302d346634652d626536662d6461623464343032353862620017687474703a2f2f3132372e302e302e313a32333438332f000000000000007e000000000000000000000000'

describe('the Connect group protocol', () => {
  it('decodes the bytes of a Java worker', () => {
    expect(parseWorkerMetadata(Buffer.from(METADATA, 'hex'))).toMatchObject({
      url: 'http://127.0.0.1:23483/',
      configOffset: 126,
      assignment: {
        assigned: {
          connectors: ['a', '100%', 'a/b'],
          tasks: ['a', '100%', 'a/b'].map((connector) => ({ connector, task: 0 })),
        },
      },
    })
  })

  it('encodes the bytes that a Java worker encodes', () => {
    const metadata = parseWorkerMetadata(Buffer.from(METADATA, 'hex'))
    expect(encodeWorkerMetadata('sessioned', metadata).toString('hex')).toBe(METADATA)
    const assignment = parseWorkerAssignment(Buffer.from(ASSIGNMENT, 'hex'))
    expect(encodeWorkerAssignment('sessioned', assignment).toString('hex')).toBe(ASSIGNMENT)
  })

  it('decodes messages of older workers without the later fields', () => {
    const bytes = Buffer.from(ASSIGNMENT, 'hex')
    expect(parseWorkerAssignment(bytes.subarray(0, bytes.length - 8))).toMatchObject({ delayMs: 0 })
  })

  it('rejects truncated messages', () => {
    expect(() => parseWorkerAssignment(Buffer.from(ASSIGNMENT, 'hex').subarray(0, 20))).toThrow('truncated')
  })
})
