/**
 * Why a cluster, or what stands for one, did not do what it was asked. `unreachable`: the same may succeed later without
 * anyone changing anything; `forbidden`: somebody has to grant it; `refused`: it will not do that.
 */
export class ClusterError extends Error {
  readonly code: 'unreachable' | 'forbidden' | 'refused'

  constructor(code: ClusterError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ClusterError'
    this.code = code
  }
}
