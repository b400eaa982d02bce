/**
 * Why a cluster did not carry out an operation. `unreachable`: a retry may succeed; `forbidden`: a permission is
 * missing; `refused`: the operation is not possible.
 */
export class ClusterError extends Error {
  readonly code: 'unreachable' | 'forbidden' | 'refused'

  constructor(code: ClusterError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ClusterError'
    this.code = code
  }
}
