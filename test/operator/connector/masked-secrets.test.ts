import { describe, expect, it } from 'vitest'
import { RequestError } from '../../../src/clients/http-client.ts'
import { withSecretsMasked } from '../../../src/operator/connector/masked-secrets.ts'

describe('withSecretsMasked', () => {
  it('masks the texts of an error and of its causes, also of a timeout, and keeps the error', async () => {
    const timeout = new DOMException('no response to user:hunter22', 'TimeoutError')
    const failed = new RequestError(0, 0, 'PUT http://user:hunter22@worker: timeout', { cause: timeout })
    const masking = withSecretsMasked((secrets) => {
      secrets.add(['hunter22'])
      return Promise.reject(failed)
    })
    await expect(masking).rejects.toBe(failed)
    expect([failed.status, failed.retriable, failed.cause]).toEqual([0, true, timeout])
    const texts = [failed, timeout].flatMap(({ message, stack }) => [message, stack])
    expect(texts.filter((text) => text === undefined || text.includes('hunter22'))).toEqual([])
    expect(failed.message).toContain('http://user:')
  })

  it('masks texts for people in a result, and no names', async () => {
    const masked = await withSecretsMasked(async (secrets) => {
      secrets.add(['hunter22'])
      return { name: 'hunter22', tasks: [{ trace: 'at hunter22' }] }
    })
    expect(masked.name).toBe('hunter22')
    expect(masked.tasks[0]!.trace).not.toContain('hunter22')
  })
})
