import { APPLY_PATCH, type ApiCall, ApiError } from '../../src/clients/kubernetes/kubernetes-api.ts'

/** An in-memory API server for one Secret. */
export class FakeSecrets {
  stored: { metadata: { resourceVersion: string }; data: Readonly<Record<string, string>> } | undefined
  writes = 0
  /** Called once before the next create or update, to simulate a concurrent write. */
  meanwhile: (() => Promise<void>) | undefined

  /** The bodies of server-side apply requests for other objects. */
  readonly applied: unknown[] = []
  /** Whether other objects exist, so that they can be patched. */
  hasOthers = true
  /** While set, each call throws it. */
  failure: Error | undefined

  async send<T>({ method, body, contentType }: Pick<ApiCall, 'method' | 'body' | 'contentType'>): Promise<T> {
    if (this.failure !== undefined) throw this.failure
    if (method === 'PATCH' && contentType !== APPLY_PATCH) {
      if (!this.hasOthers) throw new ApiError(404, 'NotFound', 'there is none')
      return {} as T
    }
    if (method === 'PATCH') {
      this.applied.push(body)
      return body as T
    }
    if (method === 'GET') {
      if (this.stored === undefined) throw new ApiError(404, 'NotFound', 'there is none')
      return structuredClone(this.stored) as T
    }
    const meanwhile = this.meanwhile
    this.meanwhile = undefined
    await meanwhile?.()
    const { metadata, data } = body as NonNullable<FakeSecrets['stored']>
    const known = this.stored?.metadata.resourceVersion
    if (method === 'POST' ? known !== undefined : known !== metadata.resourceVersion) {
      throw new ApiError(409, method === 'POST' ? 'AlreadyExists' : 'Conflict', 'another one was first')
    }
    this.writes += 1
    this.stored = { metadata: { ...metadata, resourceVersion: String(this.writes) }, data }
    return this.stored as T
  }

  close(): void {}
}
